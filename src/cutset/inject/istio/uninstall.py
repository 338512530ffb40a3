"""Takes an environment away: what obeys plans first; the collector, which proves that nobody does any more, last."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from cutset.errors import UsageError
from cutset.inject.istio.applying import Applied, remove_resource
from cutset.inject.istio.asking import asking
from cutset.inject.istio.discovery import list_resources, view_of
from cutset.inject.istio.facts import mesh_configs, ours_of, revisions
from cutset.inject.istio.marking_found import marker_of, marking_of, policies_of, stop_asking
from cutset.inject.istio.marks import ENVIRONMENT, Installation, installation_in, label
from cutset.inject.istio.probing import Probed, probe_until_silent
from cutset.inject.istio.releasing import release_shared
from cutset.kubernetes.client import Cluster
from cutset.model.cluster import ClusterView, Resource
from cutset.model.wording import quoted


@dataclass(frozen=True, slots=True)
class Removal:
    """What will be taken away."""

    environment: str
    marking: tuple[Resource, ...]  # policies by which gateways ask us about live requests
    filters: tuple[Resource, ...]  # EnvoyFilters of these namespaces, and of gateways if none other is left
    rest: tuple[Resource, ...]
    view: ClusterView
    configs: tuple[Resource, ...]
    installation: Installation | None  # as it was asked for; None: nothing says so any more


async def prepare_removal(cluster: Cluster, namespaces: Sequence[str], environment: str = "") -> Removal:
    """Changes nothing. Without an environment: the one that the first namespace belongs to."""
    listed = await list_resources(cluster, namespaces)
    view = view_of(listed, namespaces)
    places = tuple(dict.fromkeys((*namespaces, *(each.namespace for each in view.gateways))))
    ours = await ours_of(cluster, "", places)
    environment = environment or _environment_of(namespaces, ours)
    mine = [each for each in ours if label(each, ENVIRONMENT) == environment]
    kept = {each["metadata"]["namespace"] for each in mine if _is_whole(each)} - set(namespaces)
    chosen = [each for each in mine if not kept or each["metadata"]["namespace"] in namespaces]
    marking = [] if kept else await marking_of(cluster, environment, places)
    installations = [found for each in chosen if (found := installation_in(each))]
    return Removal(
        environment,
        tuple(policies_of(marking)),
        tuple(each for each in chosen if each["kind"] == "EnvoyFilter"),
        (*(each for each in chosen if each["kind"] != "EnvoyFilter"), *marker_of(marking)),
        view,
        tuple(await mesh_configs(cluster, revisions(listed["Pod"], namespaces))),
        installations[0] if installations else None,
    )


async def remove_filters(cluster: Cluster, removal: Removal) -> AsyncIterator[Applied]:
    """From here on no sidecar begins to obey a plan; connections that are open may, until their next answer.

    Before that no request is marked any more: were the marker gone first, gateways would refuse requests.
    """
    async for stopped in stop_asking(cluster, removal.marking):
        yield stopped
    for resource in removal.filters:
        if removed := await remove_resource(cluster, resource):
            yield removed


async def prove_silence(cluster: Cluster, removal: Removal, key: bytes) -> AsyncIterator[Probed]:
    async with asking(cluster, key, removal.environment) as asked:
        async for probed in probe_until_silent(asked.ask, removal.view):
            yield probed


async def remove_rest(cluster: Cluster, removal: Removal) -> AsyncIterator[Applied]:
    """Raises ForbiddenError if what environments share has to stay, since we may not look for others."""
    for resource in removal.rest:
        if removed := await remove_resource(cluster, resource):
            yield removed
    async for shared in release_shared(cluster, removal.configs):
        yield shared


def _environment_of(namespaces: Sequence[str], ours: Sequence[Resource]) -> str:
    found = {
        label(each, ENVIRONMENT) for each in ours if each["metadata"]["namespace"] in namespaces and _is_whole(each)
    }
    if len(found) > 1:
        raise UsageError(
            f"These namespaces belong to several environments: {quoted(sorted(found))}",
            hint="Uninstall one after the other, with `--environment`",
        )
    return found.pop() if found else namespaces[0]


def _is_whole(resource: Resource) -> bool:
    """Whether it is for an application namespace as a whole, not for the pods of a gateway."""
    return not (resource.get("spec") or {}).get("workloadSelector")
