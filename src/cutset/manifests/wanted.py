"""What advice wants of Istio, service by service, and what comes of putting it into what is there."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cutset.manifests.matching import Labels
from cutset.model.advice import Advice
from cutset.model.point import Point

# What the callee has most likely not begun with. Istio's own default repeats no call that was answered 503.
RETRY_ON = "connect-failure,refused-stream,unavailable,503"
EJECTION = {"consecutive5xxErrors": 5, "interval": "1s", "baseEjectionTime": "10s", "maxEjectionPercent": 50}
NOT_IN_ISTIO = {"fallback": "Istio knows no fallbacks", "hedge_after_seconds": "Istio knows no hedging"}

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WantedRoute:
    site: Point
    settings: Mapping[str, Any] = field(hash=False)  # `timeout` and `retries`, as in a route
    labels: Labels | None = field(default=None, hash=False)  # of the callers that are meant; None: of all

    @property
    def is_http(self) -> bool:
        return " /" in self.site.api

    @property
    def name(self) -> str:
        return "cutset-" + re.sub(r"[^a-z0-9]+", "-", str(self.site).lower()).strip("-")


@dataclass(frozen=True, slots=True)
class WantedService:
    routes: tuple[WantedRoute, ...]
    policy: Mapping[str, Any] = field(hash=False)  # for the whole service: parts of a `trafficPolicy`


@dataclass(frozen=True, slots=True)
class Clash:
    """Something is there already, and differs: it stays."""

    site: Point | None  # None: of the whole service
    path: str  # of the field
    there: Any
    wanted: Any

    def __str__(self) -> str:
        there = self.there if isinstance(self.there, str) and " " in self.there else json.dumps(self.there)
        return f"{self.path} is {there}, and would be {json.dumps(self.wanted)}"


@dataclass(frozen=True, slots=True)
class Merging:
    spec: Manifest
    added: tuple[tuple[Point | None, str, Any], ...]  # site, setting and value
    clashes: tuple[Clash, ...]


def wanted_of(
    advice: Mapping[Point, Sequence[Advice]], labels: Mapping[str, Labels] | None = None
) -> dict[str, WantedService]:
    """By service. `labels` are those of callers' pods, by service; without, they have a label `app` of their name."""
    found: dict[str, dict[Point, dict[str, Any]]] = {}
    for site, given in advice.items():
        settings = {name: value for each in given for name, value in each.settings.items()}
        found.setdefault(site.service, {})[site] = settings
    return {
        service: WantedService(
            tuple(route for site in sorted(sites) if (route := _route(site, sites[site], labels or {})).settings),
            _policy(list(sites.values())),
        )
        for service, sites in sorted(found.items())
    }


def _route(site: Point, settings: Mapping[str, Any], labels: Mapping[str, Labels]) -> WantedRoute:
    wanted: Manifest = {}
    if "timeout_seconds" in settings:
        wanted["timeout"] = f"{settings['timeout_seconds']:g}s"
    if "retries" in settings:
        wanted["retries"] = {"attempts": settings["retries"], "retryOn": RETRY_ON}
    return WantedRoute(site, wanted, labels.get(site.caller, {"app": site.caller}) if site.caller else None)


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
