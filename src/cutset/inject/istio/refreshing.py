"""Brings the patches for outlier detection up to date, after VirtualServices or DestinationRules were changed.

Without them failures that we inject would take replicas from others; so this comes before anything is injected.
"""

from collections.abc import Sequence

from cutset.inject.istio.applying import apply_resource, remove_resource
from cutset.inject.istio.facts import ours_of
from cutset.inject.istio.install import prepare
from cutset.inject.istio.marks import Installation, installation_in
from cutset.inject.istio.planning import OUTLIERS
from cutset.kubernetes.client import Cluster
from cutset.kubernetes.kinds import named
from cutset.model.cluster import Resource


async def refresh_outliers(cluster: Cluster, environment: str, places: Sequence[str]) -> None:
    """As an installation would do now. Nothing where Cutset is not installed.

    Raises UsageError where no patch can do what is needed.
    """
    ours = await ours_of(cluster, environment, places)
    installed = next(filter(None, map(installation_in, ours)), None)
    if installed is None:
        return
    prepared = await prepare(cluster, installed)
    wanted = {named(each): each for each in prepared.plan.resources if _is_for_outliers(each, installed)}
    for each in wanted.values():
        await apply_resource(cluster, each)
    for each in ours:
        if _is_for_outliers(each, installed) and named(each) not in wanted:
            await remove_resource(cluster, each)


def _is_for_outliers(resource: Resource, installed: Installation) -> bool:
    return str(resource["metadata"]["name"]).startswith(f"{installed.name}{OUTLIERS}")
