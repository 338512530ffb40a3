"""What of ours is in a cluster: is it what would be installed today, and does it obey the key that is here?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cutset.errors import UsageError
from cutset.inject.istio.collector import COLLECTOR
from cutset.inject.istio.gateways import Listed
from cutset.inject.istio.marks import (
    COLLECTOR_NAMESPACE,
    ENVIRONMENT,
    VERSION,
    Installation,
    annotation,
    installation_in,
    is_ours,
    label,
)
from cutset.inject.istio.mesh_config import entry_in
from cutset.inject.istio.planning import InstallPlan, hides_collector, install_plan
from cutset.kubernetes.kinds import named
from cutset.model.checkup import CheckupLine, note, well, wrong
from cutset.model.cluster import ClusterView, Resource

_LISTED = ("EnvoyFilter", "Telemetry")


@dataclass(frozen=True, slots=True)
class OwnSide:
    """What this machine would experiment with."""

    environment: str
    public_key: bytes  # DER; empty: there is no key here


def installed_checks(namespaces: Sequence[str], view: ClusterView, listed: Listed, own: OwnSide) -> list[CheckupLine]:
    again = " ".join(("cutset install", *(f"-n {name}" for name in namespaces)))
    again += f" --environment {own.environment}" if own.environment != namespaces[0] else ""
    filters = {name: _of_namespace(name, listed) for name in namespaces}
    if missing := [name for name, each in filters.items() if each is None]:
        return [wrong("install", f"nothing of Cutset is installed in {', '.join(missing)}", f"`{again}`", fatal=True)]
    found = [each for each in filters.values() if each is not None]
    checks = [line for each in found for line in _mine(each, own, again)]
    wanted = installation_in(found[0])
    if checks or wanted is None:
        return checks
    try:
        plan = install_plan(wanted, view, listed)
    except UsageError as error:
        return [wrong("install", error.message, error.hint)]
    checks = [*_stale(wanted, plan, listed, again), *_provider(plan, listed, again)]
    checks += _collector(wanted, listed, again)
    return checks or [well("install", f"what is installed in {', '.join(namespaces)} is up to date")]


def _of_namespace(namespace: str, listed: Listed) -> Resource | None:
    """The EnvoyFilter of its sidecars."""
    ours = (
        each
        for each in listed.get("EnvoyFilter", ())
        if each["metadata"]["namespace"] == namespace and is_ours(each) and installation_in(each)
    )
    return next(ours, None)


def _mine(found: Resource, own: OwnSide, again: str) -> Iterator[CheckupLine]:
    there = label(found, ENVIRONMENT)
    asked = installation_in(found)
    if there != own.environment:
        yield wrong(
            "environment",
            f"{found['metadata']['namespace']} obeys plans for `{there}`, and `target.environment` is "
            f"`{own.environment}`",
            f"Set `target.environment: {there}`",
            fatal=True,
        )
    elif own.public_key and asked and asked.public_key != own.public_key:
        yield wrong(
            "key",
            f"{found['metadata']['namespace']} obeys another key than the one that is here",
            f"Use the key of whoever installed it (`CUTSET_KEY`, or its file), or take over with `{again}`",
            fatal=True,
        )


def _stale(wanted: Installation, plan: InstallPlan, listed: Listed, again: str) -> Iterator[CheckupLine]:
    there = {
        _key(each): each
        for kind in _LISTED
        for each in listed.get(kind, ())
        if is_ours(each) and label(each, ENVIRONMENT) == wanted.environment
    }
    expected = {_key(each): each for each in plan.resources if each["kind"] in _LISTED}
    for key, each in expected.items():
        outliers = "-outliers" in each["metadata"]["name"]
        why = ": a replica that our faults hit would be ejected, and others would feel it" if outliers else ""
        if key not in there:
            yield wrong("install", f"{named(each)} is missing{why}", f"`{again}`")
        elif annotation(there[key], VERSION) != annotation(each, VERSION):
            changed = (
                "services or DestinationRules have changed since, or" if outliers else "the cluster changed since, or"
            )
            yield wrong("install", f"{named(each)} is not up to date ({changed} Cutset did){why}", f"`{again}`")
    for key, each in there.items():
        if key not in expected:
            yield note("install", f"{named(each)} is not needed any more", f"`{again}` removes it")


def _provider(plan: InstallPlan, listed: Listed, again: str) -> Iterator[CheckupLine]:
    if not listed.get("ConfigMap"):
        return
    text = listed["ConfigMap"][0].get("data", {}).get("mesh", "")
    for entry in plan.entries:
        if entry_in(text, entry["name"]) == entry:
            continue
        traces = "opentelemetry" in entry
        kind, so = ("tracing", "no span would arrive") if traces else ("marking", "no live request can be marked")
        yield wrong(
            kind,
            f"MeshConfig has no {'tracing ' if traces else ''}provider `{entry['name']}` as it was installed: {so}. "
            "Whoever writes MeshConfig (Helm, an operator) may have written it anew",
            f"Add it to their values, as `{again} --print` shows, or `{again}`",
            fatal=traces,
        )


def _collector(wanted: Installation, listed: Listed, again: str) -> Iterator[CheckupLine]:
    if wanted.keep_tracing or wanted.collector:
        return
    for each in listed.get("Sidecar", ()):
        if each["metadata"]["namespace"] in wanted.namespaces and hides_collector(each):
            yield wrong(
                "collector",
                f"{named(each)} keeps the collector from its sidecars: no span of them would arrive",
                f"Add `{COLLECTOR_NAMESPACE}/*` to `egress.hosts` in it",
            )
    found = [each for each in listed.get("Deployment", ()) if each["metadata"]["name"] == COLLECTOR]
    where = f"{COLLECTOR_NAMESPACE}/{COLLECTOR}"
    if not found:
        yield wrong("collector", f"the Deployment {where} is not there: no span would arrive", f"`{again}`", fatal=True)
    elif not found[0].get("status", {}).get("readyReplicas"):
        reasons = sorted({reason for pod in listed.get("Pod", ()) for reason in _waiting(pod)})
        why = f": {'; '.join(reasons)}" if reasons else ""
        yield wrong(
            "collector",
            f"no pod of the Deployment {where} is ready{why}",
            f"See `kubectl describe pod -n {COLLECTOR_NAMESPACE}`; `{again} --image` says which image it runs",
            fatal=True,
        )


def _waiting(pod: Resource) -> Iterator[str]:
    if pod["metadata"]["namespace"] == COLLECTOR_NAMESPACE:
        for each in pod.get("status", {}).get("containerStatuses", ()):
            if waiting := each.get("state", {}).get("waiting"):
                yield f"{each['name']} waits, {waiting.get('reason', '')} {waiting.get('message', '')}".strip()


def _key(resource: Resource) -> tuple[str, str, str]:
    return resource["kind"], resource["metadata"]["namespace"], resource["metadata"]["name"]
