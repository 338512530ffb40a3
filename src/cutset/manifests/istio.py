"""Advice as Istio resources: timeouts and retries in a VirtualService, the rest in a DestinationRule.

Istio's API knows neither hedging nor fallbacks; those are not in here.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from cutset.manifests.schema import problems
from cutset.model.advice import Advice
from cutset.model.point import Point

API_VERSION = "networking.istio.io/v1"
RETRY_ON = "connect-failure,refused-stream,unavailable,503"  # what the callee has most likely not begun with
EJECTION = {"consecutive5xxErrors": 5, "interval": "1s", "baseEjectionTime": "10s", "maxEjectionPercent": 50}

Manifest = dict[str, Any]


def istio_manifests(advice: Mapping[Point, Sequence[Advice]]) -> list[Manifest]:
    """One VirtualService and one DestinationRule per service, where there is something to put in. All are valid."""
    services: dict[str, dict[Point, dict[str, Any]]] = {}
    for site, given in advice.items():
        settings = {name: value for each in given for name, value in each.settings.items()}
        services.setdefault(site.service, {})[site] = settings
    found = [each for name, sites in sorted(services.items()) for each in _of_service(name, sites)]
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


def _of_service(service: str, sites: Mapping[Point, Mapping[str, Any]]) -> Iterator[Manifest]:
    destination = [{"destination": {"host": service}}]
    routes = [_route(site, settings, destination) for site, settings in sorted(sites.items())]
    routes = [route for route in routes if route.keys() & {"timeout", "retries"}]
    if routes:
        spec = {"hosts": [service], "http": [*routes, {"route": destination}]}
        yield _manifest("VirtualService", service, spec)
    if policy := _policy(list(sites.values())):
        yield _manifest("DestinationRule", service, {"host": service, "trafficPolicy": policy})


def _manifest(kind: str, service: str, spec: Manifest) -> Manifest:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": service}, "spec": spec}


def _route(site: Point, settings: Mapping[str, Any], destination: list[Manifest]) -> Manifest:
    route: Manifest = {"name": _slug(str(site)), "match": [_match(site)], "route": destination}
    if "timeout_seconds" in settings:
        route["timeout"] = f"{settings['timeout_seconds']:g}s"
    if "retries" in settings:
        route["retries"] = {"attempts": settings["retries"], "retryOn": RETRY_ON}
    return route


def _match(site: Point) -> Manifest:
    """gRPC APIs are known by their method's name alone, so that any package and service will do."""
    method, _, path = site.api.partition(" ")
    if path:
        pattern = "[^/]+".join(re.escape(part) for part in path.split("*"))
        uri = {"regex": f"{pattern}(\\?.*)?"} if "*" in path else {"exact": path}
        match: Manifest = {"method": {"exact": method}, "uri": uri}
    else:
        match = {"uri": {"regex": f"/[^/]+/{re.escape(site.api)}"}}
    return match | ({"sourceLabels": {"app": site.caller}} if site.caller else {})


def _policy(of_sites: Sequence[Mapping[str, Any]]) -> Manifest:
    """These hold for the whole service, so that the most generous of its APIs' decides."""
    policy: Manifest = {}
    if any(settings.get("outlier_detection") for settings in of_sites):
        policy["outlierDetection"] = EJECTION
    if limits := [settings["max_parallel"] for settings in of_sites if "max_parallel" in settings]:
        pool = {"http2MaxRequests": max(limits), "http1MaxPendingRequests": max(limits)}
        policy["connectionPool"] = {"http": pool}
    if budgets := [settings["retry_budget_percent"] for settings in of_sites if "retry_budget_percent" in settings]:
        policy["retryBudget"] = {"percent": max(budgets), "minRetryConcurrency": 3}
    return policy


def _slug(text: str) -> str:
    return "cutset-" + re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
