"""Request classes: which kind of user request a trace is of (CAST §3.3)."""

import re
from collections.abc import Iterable

from cutset.lineage.api_names import bare_method
from cutset.lineage.routes import as_the_mesh_names
from cutset.model.call_tree import CallTree
from cutset.model.span import SpanLabel

# Routes by which a gateway says that it passes on whatever comes.
_CATCH_ALL = re.compile(r"/?(\*+|\{[^/]*\*[^/]*\})/?")


def request_class(entry: SpanLabel, tree: CallTree, *, by_calls: bool = False) -> str:
    """`GET /product/{id}` where the application names its route, the learned `GET /product/*` where it does not.

    A gateway that routes everything alike tells nothing, so that the request is named after what it was passed on to.
    With `by_calls`, requests that are named alike are told apart by the APIs that their first service calls.
    """
    name = _name(entry)
    within = tree
    while not name and len(within.calls) == 1:
        within = within.calls[0]
        if _CATCH_ALL.fullmatch(within.point.api.rpartition(" ")[2]) is None:
            name = within.point.api
    name = name or entry.name or "unknown"
    return f"{name} ({_calls_of(within)})" if by_calls else name


def class_of_request(request: str, classes: Iterable[str]) -> str:
    """The class that a request which somebody else named is of; empty if there is none, or several as good.

    `GET /users/alice` is of `GET /users/{name}` and of `GET /users/*`, and `Cart/GetCart` of `shop.Cart/GetCart`.
    """
    asked, best, most = _as_compared(request), [""], -1
    for name in sorted(classes):
        pattern = _as_compared(name)
        if len(pattern) == len(asked) and all(part in ("*", own) for part, own in zip(pattern, asked, strict=True)):
            literal = len(pattern) - pattern.count("*")
            best = [*best, name] if literal == most else [name] if literal > most else best
            most = max(most, literal)
    return best[0] if len(best) == 1 else ""


def _as_compared(name: str) -> list[str]:
    return as_the_mesh_names(bare_method(name)).split("/")


def is_named_by_span(entry: SpanLabel) -> bool:
    """Whether only the name of the span tells what was asked for, so that different requests may be named alike."""
    return not (entry.http_route or entry.url_path or entry.rpc_method)


def _name(entry: SpanLabel) -> str:
    if entry.http_route and _CATCH_ALL.fullmatch(entry.http_route) is None:
        return f"{entry.http_method} {entry.http_route}".lstrip()
    if entry.http_method and entry.name.startswith(f"{entry.http_method} /"):
        return entry.name  # as OpenTelemetry names a span after the route
    if entry.url_path:
        return f"{entry.http_method} {entry.url_path}".lstrip()
    if entry.rpc_method:
        return entry.rpc_method
    return "" if entry.http_route or _CATCH_ALL.fullmatch(entry.name) else entry.name


def _calls_of(tree: CallTree) -> str:
    apis = sorted({call.point.api for call in tree.calls})
    return f"calls {', '.join(apis)}" if apis else "no calls"
