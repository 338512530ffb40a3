"""What there is in a cluster for the marking of live requests, and how it is taken away: the policy first.

Istio denies the requests of a policy whose provider or Service has gone. Between the two it needs a moment to tell
gateways.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import UTC, datetime

from cutset.inject.istio.applying import Applied, remove_resource
from cutset.inject.istio.marking import BY, SINCE, marker_name
from cutset.inject.istio.marks import COLLECTOR_NAMESPACE, ENVIRONMENT, OURS, annotation
from cutset.kubernetes.client import Cluster, ForbiddenError
from cutset.model.cluster import Resource

TOLD_SECONDS = 3.0  # until gateways know of a policy that has gone: istiod waits a tenth of a second, and then pushes
_ANYBODY_READS = ("Deployment", "Service", "ServiceAccount")
_OTHERS = ("AuthorizationPolicy", "DestinationRule")


async def marking_of(cluster: Cluster, environment: str = "", places: Sequence[str] = ()) -> list[Resource]:
    """Of an environment, or of all: its marker, and policies everywhere, or in these namespaces if more is forbidden.

    Who may not look for policies sees none, unless there is a marker, which is what they need.
    """
    labels = {**OURS, **({ENVIRONMENT: environment} if environment else {})}
    own = await asyncio.gather(*(cluster.list(kind, COLLECTOR_NAMESPACE, labels) for kind in _ANYBODY_READS))
    marker = [each for some in own for each in some if each["metadata"]["name"].startswith(marker_name(""))]
    try:
        policies = await _policies(cluster, labels, places)
        rules = await cluster.list("DestinationRule", COLLECTOR_NAMESPACE, labels)
    except ForbiddenError:
        if marker:
            raise
        return []
    return [*policies, *rules, *marker]


def policies_of(found: Iterable[Resource]) -> list[Resource]:
    """By which gateways ask."""
    return [each for each in found if (each.get("spec") or {}).get("action") == "CUSTOM"]


def marker_of(found: Sequence[Resource]) -> list[Resource]:
    """All but those, in the order in which they are removed."""
    asking = policies_of(found)
    return [each for each in found if each not in asking]


async def stop_asking(cluster: Cluster, found: Iterable[Resource]) -> AsyncIterator[Applied]:
    """When this is over, no gateway asks any more."""
    stopped = False
    for policy in policies_of(found):
        if removed := await remove_resource(cluster, policy):
            stopped = True
            yield removed
    if stopped:
        await asyncio.sleep(TOLD_SECONDS)


def who_marks(policy: Resource) -> str:
    since = annotation(policy, SINCE)
    at = f" since {datetime.fromtimestamp(int(since), UTC):%Y-%m-%d %H:%M:%S} UTC" if since.isdigit() else ""
    return f"by {annotation(policy, BY) or 'somebody'}{at}"


async def _policies(cluster: Cluster, labels: dict[str, str], places: Sequence[str]) -> list[Resource]:
    try:
        return await cluster.list("AuthorizationPolicy", labels=labels)
    except ForbiddenError:
        if not places:
            raise
        where = dict.fromkeys((*places, COLLECTOR_NAMESPACE))
        each = await asyncio.gather(*(cluster.list("AuthorizationPolicy", place, labels) for place in where))
        return [policy for some in each for policy in some]
