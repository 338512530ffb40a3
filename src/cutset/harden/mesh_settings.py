"""Advice as settings of services in mesh.yaml."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cutset.harden.remedies.evidence import SiteEvidence, safe_to_repeat
from cutset.harden.remedies.timeout import seconds_for
from cutset.manifests.mesh_file import MeshSettings
from cutset.model.advice import Advice
from cutset.model.point import Point

_NEED_SAFETY = ("retries", "retry_budget_percent", "hedge_after_seconds")


def mesh_settings(
    advice: Mapping[Point, Sequence[Advice]], known: Mapping[Point, SiteEvidence]
) -> tuple[MeshSettings, list[str]]:
    """By service, and what is left out: in mesh.yaml settings hold for a whole service, so all its APIs must agree."""
    settings: dict[str, dict[str, Any]] = {}
    left_out: list[str] = []
    for site, given in sorted(advice.items()):
        service = settings.setdefault(site.service, {})
        for name, value in (item for each in given for item in each.settings.items()):
            if name == "fallback":
                service["fallback"] = service.get("fallback", {}) | value
            else:
                service[name] = max(service.get(name, value), value)
    for name, service in settings.items():
        apis = [each for point, each in known.items() if point.service == name]
        left_out += [f"{name}.{setting}: {why}" for setting, why in _narrow(service, apis)]
    return {name: service for name, service in settings.items() if service}, left_out


def _narrow(service: dict[str, Any], apis: Sequence[SiteEvidence]) -> Iterator[tuple[str, str]]:
    """Takes out, or changes, what does not fit every API of the service."""
    if "timeout_seconds" in service:
        times = {each.site.api: seconds_for(each) for each in apis}
        if unknown := [api for api, seconds in times.items() if seconds is None]:
            del service["timeout_seconds"]
            yield "timeout_seconds", f"it would hold for {', '.join(unknown)} too, whose latencies are not known"
        else:
            seconds = [each for each in times.values() if each is not None]
            service["timeout_seconds"] = max([service["timeout_seconds"], *seconds])
    unsafe = [each.site.api for each in apis if not safe_to_repeat(each)]
    for setting in _NEED_SAFETY:
        if setting in service and unsafe:
            del service[setting]
            yield setting, f"it would hold for {', '.join(unsafe)} too, which may not be safe to repeat"
    if service.get("hedge_after_seconds", 0) >= service.get("timeout_seconds", float("inf")):
        del service["hedge_after_seconds"]
        yield "hedge_after_seconds", "it is not shorter than the timeout"
