"""Advice as Istio resources: timeouts and retries in a VirtualService, the rest in a DestinationRule.

Istio's API knows neither hedging nor fallbacks; those are not in here.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from cutset.manifests.matching import is_wide, match_of
from cutset.manifests.schema import problems
from cutset.manifests.wanted import Manifest, WantedRoute, WantedService, wanted_of
from cutset.model.advice import Advice
from cutset.model.point import Point

API_VERSION = "networking.istio.io/v1"


def istio_manifests(advice: Mapping[Point, Sequence[Advice]]) -> list[Manifest]:
    """One VirtualService and one DestinationRule per service, where there is something to put in. All are valid."""
    found = [each for name, wanted in wanted_of(advice).items() for each in _of_service(name, wanted)]
    for manifest in found:
        wrong = list(istio_problems(manifest))
        assert not wrong, wrong
    return found


def istio_problems(manifest: Manifest) -> Iterator[str]:
    """By the schema of Istio's own resource definition."""
    known = json.loads(files("cutset.manifests").joinpath("istio_schemas.json").read_text(encoding="utf-8"))
    if (kind := manifest.get("kind")) not in known["schemas"]:
        yield f"kind: expected one of {', '.join(known['schemas'])}, found {kind!r}"
        return
    yield from problems({"spec": manifest.get("spec")}, known["schemas"][kind], str(kind))


def merged(existing: Any, ours: Any, at: str = "") -> tuple[Any, list[str]]:
    """Both together, and where they disagree: there, what exists stays."""
    if isinstance(existing, dict) and isinstance(ours, dict):
        result, conflicts = dict(existing), []
        for name, value in ours.items():
            if name not in existing:
                result[name] = value
                continue
            result[name], inner = merged(existing[name], value, f"{at}.{name}".lstrip("."))
            conflicts += inner
        return result, conflicts
    if existing == ours:
        return existing, []
    return existing, [f"`{at}` is {json.dumps(existing)} there, and would be {json.dumps(ours)}"]


def routes_to(host: str, wanted: Sequence[WantedRoute]) -> list[Manifest]:
    """One for each API, and the last for all other calls."""
    destination = [{"destination": {"host": host}}]
    own = [
        {"name": each.name, "match": [match_of(each.site, each.labels)], "route": destination, **each.settings}
        for each in wanted
    ]
    return [*sorted(own, key=is_wide), {"route": destination}]


def _of_service(service: str, wanted: WantedService) -> Iterator[Manifest]:
    if wanted.routes:
        yield _manifest("VirtualService", service, {"hosts": [service], "http": routes_to(service, wanted.routes)})
    if wanted.policy:
        yield _manifest("DestinationRule", service, {"host": service, "trafficPolicy": dict(wanted.policy)})


def _manifest(kind: str, service: str, spec: Manifest) -> Manifest:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": service}, "spec": spec}
