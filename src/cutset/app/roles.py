"""The roles that an administrator gives to whoever is to use Cutset in some namespaces."""

from collections.abc import Sequence

from cutset.inject.istio.discovery import list_resources, view_of
from cutset.inject.istio.facts import revisions
from cutset.inject.istio.manifests import documents
from cutset.inject.istio.planning import injection_label
from cutset.inject.istio.rights import FROM_OUTSIDE, MESH_CONFIG, AccessPlaces, role_resources
from cutset.kubernetes.client import connected


async def planned_roles(namespaces: Sequence[str], subject: str, *, context: str = "") -> str:
    """For all commands but `explore --in-cluster`, whose Job needs roles that somebody has to make, and a Secret.

    `subject`: a user, or a ServiceAccount as `namespace/name`.
    """
    async with connected(context) as cluster:
        listed = await list_resources(cluster, namespaces)
    view = view_of(listed, namespaces)
    gateways = {each.namespace for each in view.gateways} - set(namespaces)
    configs = (f"{MESH_CONFIG}-{each}" if each else MESH_CONFIG for each in revisions(listed["Pod"], namespaces))
    places = AccessPlaces(tuple(namespaces), tuple(sorted(gateways)), mesh_configs=tuple(configs), given=True)
    account_namespace, _, account = subject.rpartition("/")
    # Some rights are for the collector's namespace. So the administrator makes it, and whoever installs leaves it.
    metadata = {"name": places.collector, "labels": dict(injection_label(namespaces, listed))}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    return documents([namespace, *role_resources(places, account, account_namespace, commands=FROM_OUTSIDE)])
