"""Installs an environment: nothing before all was checked, filters last, ready when pods have proven it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from cutset.errors import UsageError
from cutset.inject.istio.applying import Applied, add_providers, apply_resource, refuse_foreign_mesh_config
from cutset.inject.istio.asking import asking
from cutset.inject.istio.discovery import view_of
from cutset.inject.istio.facts import OF_ENVIRONMENTS, list_facts
from cutset.inject.istio.marks import COLLECTOR_NAMESPACE, VERSION, Installation, annotation, is_ours
from cutset.inject.istio.planning import InstallPlan, install_plan
from cutset.inject.istio.probing import Probed, probe_until_obeyed
from cutset.inject.istio.releasing import release_shared, remove_others
from cutset.inject.istio.rights import AccessPlaces, questions
from cutset.kubernetes.client import Cluster, ForbiddenError
from cutset.kubernetes.kinds import named
from cutset.model.cluster import ClusterView, Resource


@dataclass(frozen=True, slots=True)
class Prepared:
    """What will be done, and what the user should know before."""

    wanted: Installation
    plan: InstallPlan
    view: ClusterView
    configs: tuple[Resource, ...]  # MeshConfig, of each revision that is in use
    given: bool = False  # whether the collector's namespace is an administrator's, with our roles in it: it stays so


async def prepare(cluster: Cluster, wanted: Installation, *, force_mesh_config: bool = False) -> Prepared:
    """Changes nothing. Raises UsageError if something speaks against it."""
    listed = await list_facts(cluster, wanted.namespaces)
    view = view_of(listed, wanted.namespaces)
    plan = install_plan(wanted, view, listed)
    refuse_foreign_mesh_config(listed["ConfigMap"], plan.entries, force=force_mesh_config)
    space = await cluster.get("Namespace", COLLECTOR_NAMESPACE)
    return Prepared(wanted, plan, view, tuple(listed["ConfigMap"]), space is not None and not is_ours(space))


async def refuse_without_rights(cluster: Cluster, prepared: Prepared) -> None:
    gateways = tuple(sorted({each.namespace for each in prepared.view.gateways}))
    configs = tuple(each["metadata"]["name"] for each in prepared.configs)
    places = AccessPlaces(prepared.wanted.namespaces, gateways, mesh_configs=configs, given=prepared.given)
    needed = [each for each in questions(places, ["cutset install"]) if each.command == "cutset install"]
    planned = {each["kind"] for each in prepared.plan.resources} | (
        {"ConfigMap", "Pod"} if prepared.plan.entries else set()
    )
    missing = [
        str(each)
        for each in needed
        if each.kind in planned
        and not await cluster.may(each.verb, each.kind, each.namespace, each.subresource, each.name)
    ]
    if missing:
        raise UsageError(
            "You may not do what an installation needs: " + "; ".join(missing),
            hint="Ask an administrator for these rights: `cutset install --print-role` writes the roles",
        )


async def install(cluster: Cluster, prepared: Prepared, *, dry_run: bool = False) -> AsyncIterator[Applied]:
    """Applies the plan. On the second time nothing changes."""
    plan, wanted = prepared.plan, prepared.wanted
    for resource in plan.resources:
        if resource["kind"] not in (*OF_ENVIRONMENTS, *(("Namespace",) if prepared.given else ())):
            yield await apply_resource(cluster, resource, dry_run=dry_run)
    for config in prepared.configs if plan.entries else ():
        yield await add_providers(cluster, config, plan.entries, dry_run=dry_run)
    for resource in plan.resources:
        if resource["kind"] in OF_ENVIRONMENTS:
            yield await apply_resource(cluster, resource, dry_run=dry_run)
    if dry_run:
        return
    places = tuple(dict.fromkeys((*wanted.namespaces, *(each.namespace for each in prepared.view.gateways))))
    async for removed in remove_others(cluster, wanted.environment, {named(each) for each in plan.resources}, places):
        yield removed
    try:
        async for removed in release_shared(cluster, prepared.configs):
            yield removed
    except ForbiddenError:
        return  # we may not look who else uses it, so it stays


async def prove(cluster: Cluster, prepared: Prepared, key: bytes) -> AsyncIterator[Probed]:
    """Until every pod has answered with the version that was installed, and its spans arrive."""
    versions = {
        each["metadata"]["namespace"]: annotation(each, VERSION)
        for each in prepared.plan.resources
        if each["kind"] == "EnvoyFilter" and each["metadata"]["name"] == prepared.wanted.name
    }
    yield Probed(0, sum(pod.ready for pod in prepared.view.pods), (("cutset/collector", "it is starting"),))
    async with asking(cluster, key, prepared.wanted.environment) as asked:
        async for probed in probe_until_obeyed(asked.ask, asked.traced, prepared.view, versions):
            yield probed
