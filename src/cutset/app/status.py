"""What `cutset status` does: looks at what is installed in a cluster."""

from collections.abc import Sequence

from cutset.inject.istio.status import ClusterStatus, cluster_status
from cutset.kubernetes.client import connected


async def installed_status(namespaces: Sequence[str] = (), context: str = "") -> ClusterStatus:
    async with connected(context) as cluster:
        return await cluster_status(cluster, namespaces)
