"""A cluster with Istio as a place for a hardening: its VirtualServices and DestinationRules get what they lack.

What others wrote is read, merged and written back under the version that was read: whoever changed it meanwhile makes
us fail, and is never overwritten. Taking back restores a resource only while it holds what we left there.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cutset.errors import CutsetError
from cutset.harden.decision import Decision, advice_of, sites_of
from cutset.inject.istio.discovery import list_resources, view_of
from cutset.inject.istio.marks import ENVIRONMENT, OURS
from cutset.inject.istio.refreshing import refresh_outliers
from cutset.kubernetes.client import Cluster, ConflictError
from cutset.kubernetes.kinds import named
from cutset.manifests.resources import Holding, ResourcesByKind, resource_plan
from cutset.manifests.wanted import NOT_IN_ISTIO, wanted_of
from cutset.model.advice import Advice
from cutset.model.cluster import ClusterView, Resource
from cutset.model.hardening import CallsObserved, MeshChanging, ResourceChange
from cutset.model.mesh import MeshService
from cutset.model.point import Point
from cutset.model.request import Request
from cutset.verify.observe import ObservingLaboratory
from cutset.verify.place import Prospect
from cutset.verify.taken import await_taken, signs_of

PART, HARDENING = "cutset.dev/part", "hardening"  # a remedy is no part of the installation, and outlives it
GRPC_RETRIES = 2  # that Istio makes by default; of HTTP calls none that was answered 503


@dataclass(frozen=True, slots=True)
class ClusterPlace:
    cluster: Cluster
    namespaces: tuple[str, ...]  # of the system under test
    environment: str
    context: str = ""  # of the kubeconfig
    laboratory: ObservingLaboratory | None = None  # to see whether callers follow a change; None: nothing is put
    requests: tuple[Request, ...] = ()

    async def plan(self, decision: Decision, services: Sequence[MeshService], observed: CallsObserved) -> Prospect:
        """All of it was taken by the API server, as a trial (`dryRun`)."""
        listed = await list_resources(self.cluster, self.namespaces)
        advice = advice_of(sites_of(decision, services, observed))
        hosts = hosts_of(view_of(listed, self.namespaces))
        wanted = wanted_of(advice, _labels_of_callers(hosts, listed))
        reached = {name: each for name, each in wanted.items() if name in hosts}
        labels = {**OURS, ENVIRONMENT: self.environment, PART: HARDENING}
        plan = resource_plan(reached, hosts, listed, self.namespaces, {"labels": labels})
        changes = [await self._tried(before, after) for before, after in plan.changes]
        change = MeshChanging(
            resources=tuple(changes),
            context=self.context,
            environment=self.environment,
            added=tuple(plan.added),
            kept=tuple(plan.kept),
            left_out=tuple(_left_out(advice, hosts)),
        )
        signs = signs_of(plan.holding, decision.findings, self.requests)
        return Prospect(change, repeats=_repeats(plan.holding), signs=tuple(signs))

    async def _tried(self, before: Resource | None, after: Resource) -> ResourceChange:
        if before is None:
            taken = await self.cluster.apply(after, dry_run=True)
            return ResourceChange("", json.dumps({**after, "spec": taken["spec"]}))
        taken = await self.cluster.replace(after, dry_run=True)
        metadata = {name: after["metadata"][name] for name in ("name", "namespace")}
        whole = {"apiVersion": after["apiVersion"], "kind": after["kind"], "metadata": metadata, "spec": taken["spec"]}
        return ResourceChange(json.dumps(before), json.dumps(whole))

    async def put(self, prospect: Prospect, announced: MeshChanging) -> None:
        """Policies before routes, and what has to follow them in between: whoever sees the routes has it all."""
        changes = [(json.loads(each.after)["kind"], each) for each in announced.resources]
        for routes in (False, True):
            for kind, each in changes:
                if (kind == "VirtualService") == routes:
                    await self._put(each)
            await self._refresh()
        if self.laboratory is not None:
            await await_taken(self.laboratory, prospect.signs)

    async def _put(self, change: ResourceChange) -> None:
        after: Resource = json.loads(change.after)
        current = await self._current(after)
        if current is not None and current["spec"] == after["spec"]:
            return
        if not change.before and current is None:
            await self.cluster.apply(after)
        elif change.before and current is not None and current["spec"] == json.loads(change.before)["spec"]:
            await self.cluster.replace({**current, "spec": after["spec"]})
        else:
            raise ConflictError(
                f"{named(after)} {'is gone' if current is None else 'was changed'} since the change was planned",
                hint="What others do is never overwritten: begin anew, without `--resume`",
            )

    async def take_back(self, change: MeshChanging) -> str:
        """What somebody changed meanwhile stays as it is, and is named."""
        problems = []
        for each in reversed(change.resources):
            try:
                problems.append(await self._restored(each))
            except CutsetError as error:
                problems.append(error.message)
        try:
            await self._refresh()
        except CutsetError as error:
            problems.append(error.message)
        return "; ".join(filter(None, problems))

    async def _restored(self, change: ResourceChange) -> str:
        after: Resource = json.loads(change.after)
        before: Resource | None = json.loads(change.before) if change.before else None
        current = await self._current(after)
        if current is None:
            return f"{named(after)} is gone, and was not made anew" if before else ""
        if before is not None and current["spec"] == before["spec"]:
            return ""
        if current["spec"] != after["spec"]:
            return f"{named(after)} was changed by somebody since, so that it stays as it is now"
        if before is None:
            await self.cluster.delete(current, unchanged=True)
            return ""
        restored = await self.cluster.replace({**current, "spec": before["spec"]})
        # Who wrote what is a part of it: else those who did would be told that the field is ours.
        metadata = {**restored["metadata"], "managedFields": before["metadata"].get("managedFields", [])}
        await self.cluster.replace({**restored, "metadata": metadata})
        return ""

    async def _refresh(self) -> None:
        await refresh_outliers(self.cluster, self.environment, self.namespaces)

    async def _current(self, resource: Resource) -> Resource | None:
        metadata = resource["metadata"]
        return await self.cluster.get(resource["kind"], metadata["name"], metadata["namespace"])


def hosts_of(view: ClusterView) -> dict[str, str]:
    """By the names that points use: the Service that callers ask."""
    ambiguous = {name for name, _ in view.ambiguous}
    found: dict[str, str] = {}
    for each in view.names:
        own = {service.name: service for service in view.services if service.namespace == each.namespace}
        leading = [name for name in (each.name, *each.services) if name in own and name in each.services]
        if leading and each.name not in ambiguous:
            found.setdefault(each.name, own[leading[0]].host)
    return found


def mesh_services(view: ClusterView) -> tuple[MeshService, ...]:
    """As far as advice depends on them."""
    found = []
    by_host = {service.host: service for service in view.services}
    for name, host in hosts_of(view).items():
        service = by_host[host]
        grpc = any(port.protocol.startswith("grpc") for port in service.ports)
        replicas = tuple(pod.name for pod in service.pods if pod.ready)
        retries = GRPC_RETRIES if grpc else 0
        found.append(MeshService(name, "grpc" if grpc else "http", replicas, retries=retries))
    return tuple(found)


def _left_out(advice: Mapping[Point, Sequence[Advice]], hosts: Mapping[str, str]) -> list[str]:
    found = []
    for site, given in sorted(advice.items()):
        settings = {name for each in given for name in each.settings}
        if site.service not in hosts:
            found.append(f"{site}: no Service is known that leads there")
            continue
        found += [f"{site}, {name}: {why}" for name, why in NOT_IN_ISTIO.items() if name in settings]
    return found


def _labels_of_callers(hosts: Mapping[str, str], listed: ResourcesByKind) -> dict[str, Mapping[str, str]]:
    """What a Service selects its pods by, these have."""
    selectors = {
        f"{each['metadata']['name']}.{each['metadata']['namespace']}": each["spec"].get("selector") or {}
        for each in listed["Service"]
    }
    return {name: found for name, host in hosts.items() if (found := selectors.get(".".join(host.split(".")[:2])))}


def _repeats(holding: Sequence[Holding]) -> dict[Point, int]:
    return {
        each.site.of_api: int(each.value["attempts"])
        for each in holding
        if each.site is not None and each.setting == "retries"
    }
