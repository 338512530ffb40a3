"""Timeouts and retries of single APIs put into the routes of a VirtualService that others wrote.

The first route that matches a call takes it. So in front of each route that takes calls of the API goes a copy of it,
for these calls alone, with the settings that it lacks: whatever took a call takes it still, to the same destination.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cutset.manifests.matching import MESH, IncomparableError, Match, is_wide, match_of, narrowed, without_names
from cutset.manifests.wanted import Clash, Manifest, Merging, WantedRoute

_RETRIED_503 = frozenset({"503", "5xx", "gateway-error"})  # what makes Envoy repeat a call that was answered 503


@dataclass(frozen=True, slots=True)
class _Serving:
    """A route that takes calls of an API."""

    position: int
    route: Manifest
    matches: list[Match]  # of the API's calls among those of the route
    alone: bool  # it takes no others


def merge_routes(spec: Manifest, wanted: Sequence[WantedRoute]) -> Merging:
    """With all that was there. A setting that one of the routes has already, and differently, is put nowhere."""
    mesh_only = any(gateway != MESH for gateway in spec.get("gateways", ()))
    merging = _Merger(spec["http"])
    for each in wanted:
        try:
            serving = list(_serving(spec["http"], each, mesh_only=mesh_only))
        except IncomparableError as error:
            merging.clashes.append(Clash(each.site, "spec.http", f"{error}, and would be", each.settings))
            continue
        merging.merge(each, serving)
    return Merging({**spec, "http": merging.routes()}, tuple(merging.added), tuple(merging.clashes))


class _Merger:
    def __init__(self, routes: Sequence[Manifest]) -> None:
        self.added: list[tuple[Any, str, Any]] = []
        self.clashes: list[Clash] = []
        self._routes = list(routes)
        self._copies: dict[int, list[Manifest]] = {}

    def merge(self, wanted: WantedRoute, serving: Sequence[_Serving]) -> None:
        missing: dict[int, Manifest] = {each.position: {} for each in serving}
        for name, value in wanted.settings.items():
            found = {each.position: _completed(each.route.get(name), name, value, wanted) for each in serving}
            if bad := [position for position, whole in found.items() if whole is None]:
                there = self._routes[bad[0]][name]
                self.clashes.append(Clash(wanted.site, f"spec.http[{bad[0]}].{name}", there, value))
                continue
            new = {position for position, whole in found.items() if whole != self._routes[position].get(name)}
            for position in new:
                missing[position][name] = found[position]
            if new:
                self.added.append((wanted.site, name, value))
        for each in serving:
            if missing[each.position]:
                self._put(each, missing[each.position], wanted.name)

    def _put(self, serving: _Serving, settings: Manifest, name: str) -> None:
        if serving.alone:
            self._routes[serving.position] = self._routes[serving.position] | settings
            return
        copies = self._copies.setdefault(serving.position, [])
        copies.append({**serving.route, "name": name, "match": serving.matches, **settings})

    def routes(self) -> list[Manifest]:
        found: list[Manifest] = []
        for position, route in enumerate(self._routes):
            # Of two APIs that one call may be of, the one without wildcards is meant.
            found += sorted(self._copies.get(position, ()), key=is_wide)
            found.append(route)
        return found


def _serving(routes: Sequence[Manifest], wanted: WantedRoute, *, mesh_only: bool) -> Iterator[_Serving]:
    """Up to the first that takes all calls of the API which come so far."""
    own = match_of(wanted.site, wanted.labels) | ({"gateways": [MESH]} if mesh_only else {})
    taken: list[Match] = []  # by routes before
    for position, route in enumerate(routes):
        theirs: list[Match] = route.get("match") or [{}]
        both = (narrowed(each, wanted.site, wanted.labels, mesh_only=mesh_only) for each in theirs)
        found = [match for match in both if match is not None and without_names(match) not in taken]
        if not found:
            continue
        taken += map(without_names, found)
        if "delegate" in route:
            raise IncomparableError(f"`spec.http[{position}]` leaves it to another VirtualService")
        if {"uri", "uriRegexRewrite"} & route.get("rewrite", {}).keys():
            raise IncomparableError(f"`spec.http[{position}]` rewrites paths, so that their API cannot be told")
        whole = any(without_names(match) == own for match in found)
        if "route" in route:  # else it answers by itself, and calls nobody
            alone = [without_names(each) for each in found] == [without_names(each) for each in theirs]
            yield _Serving(position, route, [own] if whole else found, alone)
        if whole:
            return


def _completed(there: Any, name: str, value: Any, wanted: WantedRoute) -> Any:
    """The setting as it has to be, with what is there; None if that differs."""
    if there is None or there == value:
        return value
    if name != "retries":
        return None
    enough = there.get("attempts", 0) >= value["attempts"]
    tokens = {token.strip() for token in str(there.get("retryOn", "")).split(",")} - {""}
    retried = tokens & _RETRIED_503 if wanted.is_http else "unavailable" in tokens
    if not enough or (tokens and not retried):
        return None
    return there if tokens else {**there, "retryOn": value["retryOn"]}
