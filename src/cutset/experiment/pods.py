"""Whether the pods of the system under test are there, and whether they were the same ones all the time.

Nobody can connect to a pod from outside its cluster, so the API server is asked. A pod that goes takes spans with it
that its sidecar had not sent yet, and connections break: what was seen while pods came and went proves nothing.
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from cutset.errors import CutsetError
from cutset.experiment.liveness import UNDISTURBED, Disturbance
from cutset.experiment.replicas import ReplicaNumbers
from cutset.inject.istio.pods import is_live, workload_of
from cutset.model.cluster import Resource

GATHER_SECONDS = 0.25  # who asks within this time shares an answer: each is a list of all pods
ROLLOUT_SECONDS = 300.0  # how long a rollout may take
SETTLE_SECONDS = 30.0  # for what is under way when we begin
POLL_SECONDS = 1.0
UNREACHABLE = "the Kubernetes API server"

WorkloadKey = tuple[str, str]  # namespace and name


class Lister(Protocol):
    async def list(self, kind: str, namespace: str = "") -> list[Resource]: ...


@dataclass(frozen=True, slots=True)
class _PodState:
    name: str
    workload: WorkloadKey
    ready: bool
    leaving: bool
    restarts: int


_States = Mapping[str, _PodState]  # by uid


class PodWatch:
    problem = "is not ready"
    remedy = "See what `kubectl get pods` says of it"
    patience = ROLLOUT_SECONDS
    required = False  # some workload that never gets ready keeps nobody from exploring the others

    def __init__(self, cluster: Lister, services: Mapping[WorkloadKey, str]) -> None:
        """`services` are the names that points use, by workload."""
        self.replicas = ReplicaNumbers()
        self._cluster = cluster
        self._services = services
        self._namespaces = sorted({namespace for namespace, _ in services})
        self._ignored: frozenset[WorkloadKey] = frozenset()
        self._latest: _States = {}
        self._next: asyncio.Future[_States] | None = None

    async def begin(self) -> tuple[str, ...]:
        """Waits until all is rolled out. What is not ready even then is returned, and left out of account."""
        deadline = asyncio.get_running_loop().time() + SETTLE_SECONDS
        while away := await self.dead():
            if asyncio.get_running_loop().time() > deadline:
                break
            await asyncio.sleep(POLL_SECONDS)
        unready = {state.workload for state in self._latest.values() if not state.ready}
        self._ignored = frozenset(unready | {workload for workload, _ in await self._rolling()} if away else ())
        return away

    async def dead(self) -> tuple[str, ...]:
        try:
            states, rolling = await self._fresh(), await self._rolling()
        except CutsetError:
            return (UNREACHABLE,)
        unready = [
            f"a replica of {self._services[state.workload]} (pod {state.name})"
            for state in states.values()
            if not state.ready and not self._is_ignored(state.workload)
        ]
        told = [f"{self._services[each]} ({what})" for each, what in rolling if not self._is_ignored(each)]
        return tuple(sorted(unready) or sorted(told))

    def mark(self) -> object:
        return self._latest

    async def since(self, mark: object) -> Disturbance:
        assert isinstance(mark, Mapping)
        try:
            now = await self._fresh()
        except CutsetError as error:
            return Disturbance(f"nobody can tell whether pods changed meanwhile: {error.message}")
        before = {uid: state for uid, state in mark.items() if not self._is_ignored(state.workload)}
        after = {uid: state for uid, state in now.items() if not self._is_ignored(state.workload)}
        if before == after:
            return UNDISTURBED
        died = sorted(self._died(before, after))
        changed = sorted({self._services[each] for each in _replaced(before, after)})
        what = f"replicas of {', '.join(changed)} came or went" if changed else ""
        return Disturbance(what, tuple(died))

    def _died(self, before: _States, after: _States) -> Iterator[str]:
        for uid, state in after.items():
            earlier = before.get(uid)
            if earlier is None or state.leaving:
                continue
            if state.restarts > earlier.restarts or (earlier.ready and not state.ready):
                yield f"a replica of {self._services[state.workload]}"

    def _is_ignored(self, workload: WorkloadKey) -> bool:
        return workload in self._ignored

    async def _fresh(self) -> _States:
        """By a question that was asked after this was called."""
        if self._next is None:
            self._next = asyncio.ensure_future(self._ask_soon())
        return await asyncio.shield(self._next)

    async def _ask_soon(self) -> _States:
        await asyncio.sleep(GATHER_SECONDS if self._latest else 0)
        self._next = None  # who comes from now on needs an answer of its own
        listed = await asyncio.gather(*(self._cluster.list("Pod", namespace) for namespace in self._namespaces))
        pods = [pod for found in listed for pod in found if is_live(pod) and _workload(pod) in self._services]
        self._latest = {str(pod["metadata"]["uid"]): _state(pod) for pod in pods}
        self._number()
        return self._latest

    def _number(self) -> None:
        """Only where all is rolled out: else a pod would get the number of one that is about to go."""
        running: dict[str, list[_PodState]] = {service: [] for service in self._services.values()}
        for state in self._latest.values():
            running[self._services[state.workload]].append(state)
        settled = {service: states for service, states in running.items() if all(each.ready for each in states)}
        self.replicas.update({service: [each.name for each in states] for service, states in settled.items()})

    async def _rolling(self) -> list[tuple[WorkloadKey, str]]:
        found = await asyncio.gather(*(self._cluster.list("Deployment", namespace) for namespace in self._namespaces))
        listed = [each for some in found for each in some]
        deployments = {(each["metadata"]["namespace"], each["metadata"]["name"]): each for each in listed}
        return [
            (workload, what)
            for workload, deployment in sorted(deployments.items())
            if workload in self._services and (what := _rolled_out(deployment))
        ]


def _workload(pod: Resource) -> WorkloadKey:
    return pod["metadata"]["namespace"], workload_of(pod)


def _state(pod: Resource) -> _PodState:
    status = pod.get("status", {})
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions", ()))
    containers = (*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ()))
    leaving = "deletionTimestamp" in pod["metadata"]
    restarts = sum(each.get("restartCount", 0) for each in containers)
    return _PodState(pod["metadata"]["name"], _workload(pod), ready and not leaving, leaving, restarts)


def _replaced(before: _States, after: _States) -> Iterator[WorkloadKey]:
    for uid in before.keys() | after.keys():
        earlier, later = before.get(uid), after.get(uid)
        if earlier is None or later is None or earlier.leaving != later.leaving or later.ready > earlier.ready:
            state = later or earlier
            assert state is not None
            yield state.workload


def _rolled_out(deployment: Resource) -> str:
    """What is still under way; empty if nothing is."""
    status, wanted = deployment.get("status", {}), deployment["spec"].get("replicas", 1)
    if status.get("observedGeneration", 0) < deployment["metadata"].get("generation", 0):
        return "a rollout begins"
    updated, total = status.get("updatedReplicas", 0), status.get("replicas", 0)
    if updated < wanted or total > updated or status.get("availableReplicas", 0) < wanted:
        return f"{min(updated, status.get('availableReplicas', 0))} of {wanted} replicas are rolled out"
    return ""
