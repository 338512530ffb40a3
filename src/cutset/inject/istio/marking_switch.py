"""Makes a gateway ask about live requests, and stop: applies and removes one policy, which is ours alone.

Nothing is done where it could hurt. Istio denies all requests of a policy if its provider or Service is missing, or if
another provider has a policy for the same gateway; so all of that is looked at before each time, and a policy that
concerns no user is proven first: the gateway has to ask about a request of ours, and to let it through.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import aiohttp

from cutset.errors import TargetError, UsageError
from cutset.inject.istio.applying import apply_resource, remove_resource
from cutset.inject.istio.discovery import list_resources, view_of
from cutset.inject.istio.facts import mesh_configs, revisions
from cutset.inject.istio.gateways import Listed, leading_routes
from cutset.inject.istio.marking import (
    BY,
    PROBE_HEADER,
    SINCE,
    marker_name,
    marking_entry,
    marking_policy,
    policies_in_the_way,
    probe_rule,
    share_rule,
)
from cutset.inject.istio.marks import COLLECTOR_NAMESPACE, ENVIRONMENT, installation_in, is_ours, label
from cutset.inject.istio.mesh_config import entry_in, parsed_mesh
from cutset.inject.istio.planning import ROOT_NAMESPACE, refuse_marking
from cutset.kubernetes.client import Cluster
from cutset.kubernetes.kinds import named
from cutset.model.cluster import ClusterGateway, IstioPlace, Resource
from cutset.model.impact import Matching
from cutset.model.wording import quoted

PROOF_SECONDS = 30.0  # until a gateway has to ask
_PAUSE_SECONDS = 0.2
_PROBE_PATH = "/cutset-probe"
_AGAIN = "`cutset install --marking`, with the namespaces and options that it was installed with, puts it there"


@dataclass(frozen=True, slots=True)
class MarkingSwitch:
    """Of one gateway, for one environment."""

    cluster: Cluster
    environment: str
    gateway: ClusterGateway
    hosts: tuple[str, ...]  # of requests that lead to the environment; none: all do
    revisions: tuple[str, ...]  # of Istio, of the gateway
    by: str  # who marks

    async def prove(self, entrance: Callable[[], str], asked: Callable[[], int]) -> None:
        """The gateway asks about requests of ours. Nobody else's are concerned, whatever it does with them."""
        secret, before = secrets.token_hex(16), asked()
        headers = {PROBE_HEADER: secret, **({"host": self.hosts[0]} if self.hosts else {})}
        await self._ask_about([probe_rule(secret)])
        deadline, said = time.monotonic() + PROOF_SECONDS, ""
        async with aiohttp.ClientSession() as session:
            while asked() == before:
                if time.monotonic() > deadline:
                    await self.off()
                    raise TargetError(
                        f"The gateway {self.gateway.namespace}/{self.gateway.name} does not ask about requests: {said}",
                        hint="No request of a user was concerned. Does the log of istiod say something of "
                        f"`{marker_name(self.environment)}`, and is its pod in namespace {COLLECTOR_NAMESPACE} ready?",
                    )
                try:
                    async with session.get(f"{entrance()}{_PROBE_PATH}", headers=headers) as answer:
                        said = f"it answered {answer.status}"
                except (aiohttp.ClientError, TimeoutError, OSError) as error:
                    said = f"it does not answer ({error})"
                await asyncio.sleep(_PAUSE_SECONDS)

    async def on(self, share: float, matching: Matching) -> None:
        """A share of all requests is asked about."""
        await self._ask_about([share_rule(share, matching)])

    async def off(self) -> None:
        """No request is asked about any more, as soon as gateways know."""
        await remove_resource(self.cluster, self._policy([]))

    async def _ask_about(self, rules: Sequence[Resource]) -> None:
        await refuse_unsafe(self.cluster, self.environment, self.gateway, self.revisions)
        await apply_resource(self.cluster, self._policy(rules))

    def _policy(self, rules: Sequence[Resource]) -> Resource:
        said = {BY: self.by, SINCE: str(int(time.time()))}
        return marking_policy(self.environment, self.gateway, rules, self.hosts, **said)


async def marking_switch(cluster: Cluster, place: IstioPlace, environment: str, by: str) -> MarkingSwitch:
    """Changes nothing. Raises UsageError if live requests cannot be marked safely there."""
    listed = await list_resources(cluster, place.namespaces)
    gateway = _chosen(view_of(listed, place.namespaces).gateways, place.gateway)
    ours = (each for each in listed["EnvoyFilter"] if label(each, ENVIRONMENT) == environment)
    installed = next(filter(None, map(installation_in, ours)), None)
    if installed is not None:
        refuse_marking(installed, [gateway], listed)
    of = tuple(revisions(listed["Pod"], (gateway.namespace,)))
    await refuse_unsafe(cluster, environment, gateway, of)
    return MarkingSwitch(cluster, environment, gateway, _hosts(listed, place.namespaces), of, by)


async def refuse_unsafe(cluster: Cluster, environment: str, gateway: ClusterGateway, of: Sequence[str]) -> None:
    """Raises UsageError if a policy of ours would make Istio deny requests."""
    name, roots = marker_name(environment), set()
    for config in await mesh_configs(cluster, of):
        if entry_in(str((config.get("data") or {}).get("mesh", "")), name) != marking_entry(environment):
            raise UsageError(
                f"MeshConfig ({named(config)}) has no provider `{name}` as Cutset needs it: "
                "gateways would refuse requests instead of asking about them",
                hint=_AGAIN,
            )
        roots.add(str(parsed_mesh(config).get("rootNamespace") or ROOT_NAMESPACE))
    service = await cluster.get("Service", name, COLLECTOR_NAMESPACE)
    if service is None or not is_ours(service) or service["metadata"].get("deletionTimestamp"):
        raise UsageError(
            f"There is no Service {COLLECTOR_NAMESPACE}/{name} of ours: gateways would refuse requests",
            hint=_AGAIN,
        )
    pods = await cluster.list("Pod", gateway.namespace, dict(gateway.selector))
    for root in sorted(roots):
        places = dict.fromkeys((gateway.namespace, root))
        listed = [await cluster.list("AuthorizationPolicy", each) for each in places]
        if found := policies_in_the_way([each for some in listed for each in some], gateway, pods, root, environment):
            raise UsageError(
                f"The gateway {gateway.namespace}/{gateway.name} asks somebody else already ({named(found[0])}): "
                "with two, Istio denies requests",
                hint="Use `--load` or `--replay`, which need no marking at the gateway, or another gateway",
            )


def _chosen(gateways: Sequence[ClusterGateway], wanted: str) -> ClusterGateway:
    found = [each for each in gateways if wanted in ("", f"{each.namespace}/{each.name}")]
    if len(found) == 1:
        return found[0]
    names = quoted(f"{each.namespace}/{each.name}" for each in gateways)
    if not gateways:
        raise UsageError("No ingress gateway leads to the services", hint="Use `--load` or `--replay`")
    raise UsageError(
        f"`{wanted}` is no gateway that leads to the services" if wanted else "Several gateways lead to the services",
        hint=f"Choose one as `istio.gateway`: {names}",
    )


def _hosts(listed: Listed, namespaces: Sequence[str]) -> tuple[str, ...]:
    """By routes that lead there; none, if one of them is for any host."""
    routes = [*leading_routes(listed, "VirtualService", namespaces), *leading_routes(listed, "HTTPRoute", namespaces)]
    each = [route["spec"].get("hosts") or route["spec"].get("hostnames") or ["*"] for route in routes]
    found = sorted({str(host) for hosts in each for host in hosts})
    return () if any("*" in host for host in found) else tuple(found)
