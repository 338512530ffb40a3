"""APIs as the services themselves call them: by `http.route`, where they export it.

A sidecar knows paths, and masks what looks like an identifier; that `alice` in `/users/alice` is one it cannot know.
The server's own span, inside of the sidecar's, has the route: `/users/{name}`. Calls in experiments and calls in traces
that are ingested are named by one rule: the method, and the route with `*` for what varies, as sidecars write it.
"""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from cutset.lineage.calls import is_mesh_span, sidecar_api
from cutset.model.span import Span, SpanKind
from cutset_agent.wire import normalise_api

# A segment that varies, as frameworks write it: `{id}`, `{id:int}`, `:id`, `<id>`, `[id]`, `*`, `$id`.
_PLACEHOLDER = re.compile(r"\{[^{}*]+\}|:\w+|<[^<>]+>|\[[^\[\]]+\]|\*|\$\w+")
_VARIES = re.compile(r"\{.*\}|\*+")  # also several of them, or any number of segments
_OF_MANY = re.compile(r"\*.*|.*(?:\*\*|\*\}|\.\.\.|:path[}>]).*")  # may stand for anything, and so tells nothing

ApiNames = dict[tuple[str, str], str]  # service and the sidecar's name -> the name by route


def is_placeholder(segment: str) -> bool:
    return _PLACEHOLDER.fullmatch(segment) is not None


def as_the_mesh_names(api: str) -> str:
    """The API as findings have it: of HTTP, `*` for what identifies one thing, whether a route says so or a path."""
    method, space, path = api.partition(" /")
    if not space:
        return api
    return normalise_api(method, starred(f"/{path}"), grpc=False)


def starred(route: str) -> str:
    """A route with `*` for each segment that varies, as calls are named; a path has none."""
    return "/".join("*" if is_placeholder(each) or _VARIES.fullmatch(each) else each for each in route.split("/"))


def names_by_route(spans: Sequence[Span]) -> ApiNames:
    """Of the calls that the mesh saw in a trace. A route that does not fit the path is of a part of the service."""
    by_id = {span.span_id: span for span in spans}
    names: ApiNames = {}
    for span in sorted(spans, key=lambda span: span.start_ns, reverse=True):  # the outermost has the last word
        route = str(span.attributes.get("http.route", ""))
        mesh = _served(span, by_id) if route else None
        if mesh is not None and _fits(route, _path(mesh)):
            method = sidecar_api(mesh).partition(" ")[0]
            names[str(mesh.attributes["cutset.service"]), sidecar_api(mesh)] = as_the_mesh_names(f"{method} {route}")
    return names


def _served(span: Span, by_id: dict[str, Span]) -> Span | None:
    """The sidecar's span of the request that a server's span is of."""
    seen: set[str] = set()
    around: Span | None = span
    while around is not None and around.span_id not in seen:
        if is_mesh_span(around):
            return None if "grpc.path" in around.attributes else around
        if around.kind not in (SpanKind.SERVER, SpanKind.INTERNAL):
            return None
        seen.add(around.span_id)  # malformed traces may hold a cycle of parents
        around = by_id.get(around.parent_id)
    return None


def _path(mesh: Span) -> str:
    return urlsplit(str(mesh.attributes.get("http.url", ""))).path or sidecar_api(mesh).partition(" ")[2]


def _fits(route: str, path: str) -> bool:
    wanted, found = route.strip("/").split("/"), path.partition("?")[0].strip("/").split("/")
    if len(wanted) != len(found) or any(map(_OF_MANY.fullmatch, wanted)):
        return False
    return all(is_placeholder(each) or each == segment for each, segment in zip(wanted, found, strict=True))
