"""What is installed in a cluster: which environments, where, of which version, and whether something is left over."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutset.errors import CutsetError
from cutset.inject.istio.collector import COLLECTOR
from cutset.inject.istio.discovery import ISTIO_NAMESPACE, view_of
from cutset.inject.istio.facts import list_facts, ours_of
from cutset.inject.istio.marking_found import marking_of, policies_of, who_marks
from cutset.inject.istio.marks import (
    COLLECTOR_NAMESPACE,
    ENVIRONMENT,
    PROVIDER,
    VERSION,
    annotation,
    installation_in,
    is_ours,
    label,
)
from cutset.inject.istio.planning import install_plan
from cutset.inject.istio.releasing import providers_in, providers_of
from cutset.kubernetes.client import Cluster, ForbiddenError
from cutset.kubernetes.kinds import named
from cutset.model.cluster import Resource

MARKING = "marking"  # there while an impact runs; after one that was killed, it does nothing until the next one


@dataclass(frozen=True, slots=True)
class InstalledResource:
    name: str  # `EnvoyFilter shop/cutset-shop`
    version: str
    state: str  # current | stale | left over | missing | unknown | marking


@dataclass(frozen=True, slots=True)
class InstalledEnvironment:
    name: str
    namespaces: tuple[str, ...]
    resources: tuple[InstalledResource, ...]
    keep_tracing: bool = False
    problem: str = ""  # why it cannot be told whether it is current


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    environments: tuple[InstalledEnvironment, ...]
    collector: str  # ready | not ready | absent | not ours
    provider: bool  # whether MeshConfig names our collector
    left_over: tuple[str, ...]  # that no environment needs

    @property
    def is_current(self) -> bool:
        states = {resource.state for each in self.environments for resource in each.resources}
        return states <= {"current", MARKING} and not self.left_over


async def cluster_status(cluster: Cluster, namespaces: Sequence[str] = ()) -> ClusterStatus:
    """Of all environments, or of those that have to do with these namespaces."""
    ours = [*await ours_of(cluster, "", namespaces), *await marking_of(cluster, "", namespaces)]
    names = sorted({label(each, ENVIRONMENT) for each in ours})
    environments = [await _environment(cluster, name, _of(name, ours)) for name in names]
    if namespaces:
        environments = [each for each in environments if set(each.namespaces) & set(namespaces)]
    collector = await _collector(cluster)
    providers = await _providers(cluster)
    used = {provider for each in ours for provider in providers_of(each)}
    left_over = [f"provider `{name}` in MeshConfig" for name in sorted(providers - used)]
    if collector in ("ready", "not ready") and PROVIDER not in used:
        left_over.append(f"namespace `{COLLECTOR_NAMESPACE}` with the collector")
    return ClusterStatus(tuple(environments), collector, PROVIDER in providers, tuple(left_over))


def _of(environment: str, ours: Sequence[Resource]) -> list[Resource]:
    return [each for each in ours if label(each, ENVIRONMENT) == environment]


async def _environment(cluster: Cluster, name: str, found: Sequence[Resource]) -> InstalledEnvironment:
    wanted = next((each for each in map(installation_in, found) if each), None)
    if wanted is None:
        left = tuple(InstalledResource(named(each), annotation(each, VERSION), "left over") for each in found)
        return InstalledEnvironment(name, (), left)
    try:
        listed = await list_facts(cluster, wanted.namespaces)
        plan = install_plan(wanted, view_of(listed, wanted.namespaces), listed)
    except CutsetError as error:
        unknown = tuple(InstalledResource(named(each), annotation(each, VERSION), "unknown") for each in found)
        return InstalledEnvironment(name, wanted.namespaces, unknown, wanted.keep_tracing, error.message)
    expected = {named(each): annotation(each, VERSION) for each in plan.resources if label(each, ENVIRONMENT)}
    there = {named(each): annotation(each, VERSION) for each in found}
    marking = {named(each): who_marks(each) for each in policies_of(found)}
    resources = [
        InstalledResource(each, there.get(each, ""), _state(there.get(each), expected.get(each)))
        for each in sorted((there.keys() | expected.keys()) - marking.keys())
    ]
    resources += [InstalledResource(each, by, MARKING) for each, by in sorted(marking.items())]
    return InstalledEnvironment(name, wanted.namespaces, tuple(resources), wanted.keep_tracing)


def _state(there: str | None, expected: str | None) -> str:
    if expected is None:
        return "left over"
    if there is None:
        return "missing"
    return "current" if there == expected else "stale"


async def _collector(cluster: Cluster) -> str:
    found = await cluster.get("Deployment", COLLECTOR, COLLECTOR_NAMESPACE)
    if found is None:
        return "absent"
    if not is_ours(found):
        return "not ours"
    return "ready" if (found.get("status") or {}).get("readyReplicas") else "not ready"


async def _providers(cluster: Cluster) -> set[str]:
    try:
        config = await cluster.get("ConfigMap", "istio", ISTIO_NAMESPACE)
    except ForbiddenError:
        return set()
    return providers_in(config) if config else set()
