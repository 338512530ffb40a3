"""Whether the sidecars of pods obey us, asked of each: a signed question that the filter answers itself.

A port-forward to an application leads past its sidecar, and strict mTLS refuses strangers. So our collector asks, from
inside the mesh, through the Services: whichever pod a question gets to says its name, and we ask until all have.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Mapping
from dataclasses import dataclass, field

from cutset.inject.istio.asking import ProbeReply
from cutset.model.cluster import ClusterPort, ClusterService, ClusterView

ENOUGH = 2  # answers of each pod: a connection from before may still have what was there before
SILENT = 3  # questions for each pod that nobody answers, before we believe that nobody will
PATIENCE_SECONDS = 90.0
_PAUSE_SECONDS = 0.2
_SPANS_PAUSE_SECONDS = 1.0  # sidecars hand on spans every few seconds
_ASKED_AT_ONCE = 8

Ask = Callable[[ClusterService, ClusterPort], Awaitable[ProbeReply]]


@dataclass(frozen=True, slots=True)
class Probed:
    """How far it is: pods that answered as they should, of all."""

    answered: int
    pods: int
    unproven: tuple[tuple[str, str], ...] = ()  # the others, as `namespace/pod`, with what is known of them


@dataclass(slots=True)
class _PodProof:
    answers: int = 0
    traces: set[str] = field(default_factory=set)  # of questions that it answered
    otherwise: str = "no answer came from it"

    def lacks(self, traced: Container[str]) -> str:
        if self.answers < ENOUGH:
            return self.otherwise
        return "" if any(trace in traced for trace in self.traces) else "it obeys, but none of its spans has arrived"


async def probe_until_obeyed(
    ask: Ask, traced: Container[str], view: ClusterView, versions: Mapping[str, str]
) -> AsyncIterator[Probed]:
    """Until each pod has answered with the version of its namespace, and a span of it came; or we give up."""
    proofs = {f"{pod.namespace}/{pod.name}": _PodProof() for pod in view.pods if pod.ready}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        for service, port in _doors(view):
            due = {name: proofs[name] for name in sorted(_pods(service)) if proofs[name].lacks(traced)}
            for reply in await _asked(ask, service, port, 2 * len(due)):
                _take_note(reply, due, f"{service.namespace}/{reply.pod}", versions[service.namespace])
        left = {name: why for name, proof in sorted(proofs.items()) if (why := proof.lacks(traced))}
        yield Probed(len(proofs) - len(left), len(proofs), tuple(left.items()))
        reachable = any(_pods(service) & left.keys() for service, _ in _doors(view))
        if not reachable or time.monotonic() > deadline:
            return
        wait_for_spans = all(proofs[name].answers >= ENOUGH for name in left)
        await asyncio.sleep(_SPANS_PAUSE_SECONDS if wait_for_spans else _PAUSE_SECONDS)


def _take_note(reply: ProbeReply, due: Mapping[str, _PodProof], name: str, version: str) -> None:
    if not reply.pod:  # one of them, we do not know which
        for proof in due.values():
            proof.otherwise = reply.otherwise
    elif name in due and reply.version == version:
        due[name].answers += 1
        due[name].traces.add(reply.trace)
    elif name in due:
        due[name].otherwise = f"it has version {reply.version} of the filter"


async def probe_until_silent(ask: Ask, view: ClusterView) -> AsyncIterator[Probed]:
    """Until nobody has answered as our filter does, often enough to believe it, or we give up."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    doors = _doors(view)
    every = {name for service, _ in doors for name in _pods(service)}
    while True:
        obeying: dict[str, str] = {}
        for service, port in doors:
            replies = await _asked(ask, service, port, SILENT * len(_pods(service)))
            answered = {f"{service.namespace}/{reply.pod}" for reply in replies if reply.pod}
            obeying |= dict.fromkeys(answered, "it still obeys plans")
        yield Probed(len(every - obeying.keys()), len(every), tuple(sorted(obeying.items())))
        if not obeying or time.monotonic() > deadline:
            return
        await asyncio.sleep(_PAUSE_SECONDS)


def _doors(view: ClusterView) -> list[tuple[ClusterService, ClusterPort]]:
    """One port of each Service that leads to pods with sidecars."""
    found = []
    for service in view.services:
        ports = [port for port in service.ports if port.reached]
        if ports and _pods(service):
            found.append((service, ports[0]))
    return found


def _pods(service: ClusterService) -> set[str]:
    return {f"{pod.namespace}/{pod.name}" for pod in service.pods if pod.sidecar and pod.ready}


async def _asked(ask: Ask, service: ClusterService, port: ClusterPort, times: int) -> list[ProbeReply]:
    permits = asyncio.Semaphore(_ASKED_AT_ONCE)

    async def once() -> ProbeReply:
        async with permits:
            return await ask(service, port)

    return list(await asyncio.gather(*(once() for _ in range(times))))
