"""Which of the calls that a route of Istio takes are those of one API: the route's match, narrowed to them.

What cannot be compared for certain is an error: a route that took other calls than it should would send them astray.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cutset.model.point import Point

MESH = "mesh"  # the gateway that stands for all sidecars
ANY = "*"  # a segment of a path, as APIs write it
_ANY_SEGMENT, _ANY_QUERY = "[^/]+", r"(\?.*)?"
_PLAIN_REGEX = re.compile(r"(?:[\w\s/.*+?|,:;=@~!%&#'\"<>$^(){}\[\]-]|\\[dws./+*?()\[\]{}|^$-])*", re.ASCII)
_NO_CONDITIONS = ("name", "statPrefix")  # parts of a match that decide nothing

Match = dict[str, Any]
Labels = Mapping[str, str]


class IncomparableError(Exception):
    """Nobody can tell whether a route takes calls of the API."""


def match_of(site: Point, labels: Labels | None = None) -> Match:
    """The calls of an API, of those callers alone that have the labels.

    gRPC APIs are known by their method's name alone, so that any package and service will do.
    """
    method, segments = _parts(site)
    match: Match = {"method": {"exact": method}} if _is_http(site) else {}
    match["uri"] = _uri(segments, http=_is_http(site))
    return match | ({"sourceLabels": dict(labels)} if labels else {})


def narrowed(theirs: Match, site: Point, labels: Labels | None = None, *, mesh_only: bool = False) -> Match | None:
    """What both match; None if they have nothing in common. `mesh_only`: the route also serves other gateways."""
    if MESH not in theirs.get("gateways", [MESH]):
        return None
    if theirs.get("ignoreUriCase"):
        raise IncomparableError("it ignores the case of paths")
    method, segments = _parts(site)
    if "method" in theirs and not _fits(theirs["method"], method):
        return None
    found = _narrowed_path(theirs.get("uri"), segments, http=_is_http(site))
    if found is None:
        return None
    own = {**theirs.get("sourceLabels", {}), **(labels or {})}
    if any(own[name] != value for name, value in theirs.get("sourceLabels", {}).items()):
        return None
    both = {**theirs, **match_of(site), "uri": found} | ({"sourceLabels": own} if own else {})
    return both | ({"gateways": [MESH]} if mesh_only else {})


def is_wide(route: Mapping[str, Any]) -> bool:
    """Whether it takes more than one path: then it comes after those that take one."""
    return any("exact" not in match["uri"] for match in route["match"])


def without_names(match: Match) -> Match:
    """As far as it decides anything."""
    return {name: value for name, value in match.items() if name not in _NO_CONDITIONS}


def _is_http(site: Point) -> bool:
    return " /" in site.api


def _parts(site: Point) -> tuple[str, list[str]]:
    """The method, and the segments of the path."""
    if not _is_http(site):
        return "POST", [ANY, site.api]
    method, _, path = site.api.partition(" ")
    return method, path.split("/")[1:]


def _uri(segments: Sequence[str], *, http: bool) -> Match:
    path = "/" + "/".join(segments)
    if ANY not in path:
        return {"exact": path}
    pattern = _ANY_SEGMENT.join(re.escape(part) for part in path.split(ANY))
    return {"regex": pattern + (_ANY_QUERY if http else "")}


def _narrowed_path(theirs: Match | None, segments: list[str], *, http: bool) -> Match | None:
    ours = _uri(segments, http=http)
    if theirs is None or theirs in (ours, {"regex": ".*"}, {"regex": "/.*"}):
        return ours
    if "exact" in theirs:
        there = str(theirs["exact"]).split("/")[1:]
        same = len(there) == len(segments) and all(map(_is_segment, there, segments))
        return dict(theirs) if same else None
    if "prefix" in theirs:
        inside = _below(str(theirs["prefix"]), segments)
        return None if inside is None else _uri(inside, http=http)
    if "exact" in ours:
        return ours if _fits(theirs, ours["exact"]) else None
    if (template := _template(str(theirs.get("regex")))) is not None:
        both = _common(template, segments)
        return None if both is None else _uri(both, http=http)
    raise IncomparableError(f"whether `{theirs.get('regex')}` matches its path cannot be told")


def _below(prefix: str, segments: Sequence[str]) -> list[str] | None:
    """The segments of those paths that begin so."""
    *whole, last = prefix.split("/")[1:] if prefix.startswith("/") else [prefix]
    if len(whole) >= len(segments) or not all(map(_is_segment, whole, segments)):
        return None
    begun = segments[len(whole)]
    if last and ANY in begun:
        raise IncomparableError(f"whether a path begins with `{prefix}` depends on the call")
    return [*whole, *segments[len(whole) :]] if begun.startswith(last) or not last else None


def _template(regex: str) -> list[str] | None:
    """The segments that a pattern like ours was made from; None if it is of another kind."""
    text = regex.removesuffix(_ANY_QUERY).replace(_ANY_SEGMENT, ANY)
    path = re.sub(r"\\(.)", r"\1", text)
    rebuilt = _ANY_SEGMENT.join(re.escape(part) for part in path.split(ANY))
    return path.split("/")[1:] if rebuilt == regex.removesuffix(_ANY_QUERY) and path.startswith("/") else None


def _common(first: Sequence[str], second: Sequence[str]) -> list[str] | None:
    if len(first) != len(second):
        return None
    pairs = list(zip(first, second, strict=True))
    if any(one != other and ANY not in (one, other) for one, other in pairs):
        return None
    return [other if one == ANY else one for one, other in pairs]


def _is_segment(there: str, segment: str) -> bool:
    if ANY in segment and segment != ANY:
        raise IncomparableError(f"`{segment}` is only a part of what a path has there")
    return there != "" if segment == ANY else there == segment


def _fits(theirs: Match, text: str) -> bool:
    if "exact" in theirs:
        return bool(theirs["exact"] == text)
    if "prefix" in theirs:
        return text.startswith(theirs["prefix"])
    pattern = str(theirs.get("regex"))
    if not _PLAIN_REGEX.fullmatch(pattern) or "(?" in pattern:
        raise IncomparableError(f"whether `{pattern}` matches `{text}` cannot be told")
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error as error:
        raise IncomparableError(f"`{pattern}` cannot be read") from error
