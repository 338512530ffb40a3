"""A hardening of a simulated shop whose mesh is a real file; as a process of its own, to be killed:

python simulated_hardening.py STORE MESH_FILE
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from pathlib import Path

import yaml

from cutset.app.mesh import following
from cutset.experiment.trial import Trial
from cutset.harden.choose import choose
from cutset.harden.decision import Decision
from cutset.harden.problem import Choice, problem_of
from cutset.harden.remedies.evidence import SiteEvidence
from cutset.inject.local.mesh import Mesh
from cutset.lineage.path import Lineage
from cutset.model.event import RequestAudited
from cutset.model.fault import Cut, Fault, points_of
from cutset.model.finding import Finding
from cutset.model.hardening import HardeningEvent
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.request import Request, Response, Step
from cutset.store.ledger import open_ledger
from cutset.store.runs import hardening_events
from cutset.verify.local import FilePlace
from cutset.verify.run import Undertaking, try_hardening

MESH = """\
entry: web  # where users come in
services:
  web: {protocol: http, replicas: ["h:1"]}
  cart: {protocol: grpc, replicas: ["h:2"]}
  ad: {protocol: grpc, replicas: ["h:3"]}
  payment: {protocol: grpc, replicas: ["h:4"]}
"""
CUTS = {  # what fails a request, as long as nothing stands in
    "GET /": ("cart/GetCart", "ad/GetAds"),
    "GET /cart": ("cart/GetCart",),
    "POST /pay": ("cart/GetCart", "payment/Charge", "ad/GetAds"),
}
REQUESTS = tuple(Request(name, Step("GET", "/")) for name in CUTS)
SERVICES = tuple(MeshService(name, "grpc", (f"h:{port}",)) for port, name in enumerate(("cart", "ad", "payment"), 2))


def cut(point: str) -> Cut:
    return frozenset({Fault.parse(point)})


FINDINGS = tuple(
    Finding(request, Outcome(cut(point), Verdict.FAILED, "500")) for request, own in CUTS.items() for point in own
)


def decision(budget: float = 2) -> Decision:
    """Of one or two: `cart/GetCart`, then `ad/GetAds`."""
    problem = problem_of(FINDINGS)
    best = choose(problem, budget)
    assert isinstance(best, Choice)
    apis = {Point.parse(name) for own in CUTS.values() for name in own}
    return Decision(FINDINGS, problem, best, {api: SiteEvidence(api) for api in apis})


def undertaking(mesh_file: Path | None, *, recheck: bool = True, parallel: int = 2) -> Undertaking:
    place = FilePlace(mesh_file) if mesh_file else None
    return Undertaking("one", REQUESTS, SERVICES, place, recheck=recheck, parallel=parallel)


class HardenableLaboratory:
    """A call with a fallback in the mesh's file fails nobody. `pause` leaves the killer time to strike."""

    def __init__(self, mesh_file: Path, pause: float = 0.0, unhealthy: str = "", breaks: str = "") -> None:
        self.ran: list[tuple[str, Cut]] = []
        self.audited: list[str] = []
        self._mesh_file = mesh_file
        self._pause = pause
        self._unhealthy = unhealthy
        self._breaks = breaks  # what no longer works once the mesh has a fallback

    async def audit(self, request: Request) -> RequestAudited:
        self.audited.append(request.name)
        bad = request.name == self._unhealthy
        return RequestAudited(
            request=request.name,
            healthy=not bad,
            reason="500" if bad else "",
            calls=frozenset(map(Point.parse, CUTS[request.name])),
            not_reached=frozenset(),
            trace_ids=(),
        )

    async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
        await asyncio.sleep(self._pause)
        self.ran.append((request.name, cut))
        stood_in = await asyncio.to_thread(self._stood_in)
        gone = all(str(point) in stood_in for point in points_of(cut))
        return Outcome(cut, Verdict.SURVIVED if gone else Verdict.FAILED, "200" if gone else "500")

    async def observe(self, request: Request, cut: Cut) -> Trial:
        await asyncio.sleep(self._pause / 10)
        lineage = Lineage(**{each.name: frozenset() for each in fields(Lineage)})
        answer = Response(500 if cut else 200, seconds=0.01)
        return Trial("t", "r", answer, lineage, (), traced=True, missing="", abandoned=False)

    async def still_works(self, request: Request) -> str:
        broken = request.name == self._breaks and await asyncio.to_thread(self._stood_in)
        return "503" if broken or request.name == self._unhealthy else ""

    def evidence(self, _trace_ids: Sequence[str]) -> None:
        return None

    def expect_variation(self, _request: Request) -> None:
        pass

    async def unlike_audit(self, _request: Request) -> str:
        return ""

    async def recovered(self) -> bool:
        return True

    def _stood_in(self) -> set[str]:
        services = yaml.safe_load(self._mesh_file.read_text())["services"]
        return {f"{name}/{api}" for name, service in services.items() for api in service.get("fallback", {})}


@contextmanager
def followed(folder: Path, taken: list[MeshSpec]) -> Iterator[Path]:
    """The file of a mesh that takes every version of it."""
    file = folder / "mesh.yaml"
    file.write_text(MESH)
    with following(file, Mesh(MeshSpec(()), {}, "", "", "", taken.append)):
        yield file


def go_on(store: Path, wanted: Undertaking, laboratory: HardenableLaboratory) -> list[HardeningEvent]:
    """What is new since the ledger ended."""
    with open_ledger(store) as ledger:
        past, record = hardening_events(ledger, "only"), partial(ledger.append, "only")
        return asyncio.run(everything(try_hardening(decision(), wanted, laboratory, past=past, record=record)))


async def everything(events: AsyncIterator[HardeningEvent]) -> list[HardeningEvent]:
    return [event async for event in events]


if __name__ == "__main__":
    file = Path(sys.argv[2])
    go_on(Path(sys.argv[1]), undertaking(file), HardenableLaboratory(file, pause=0.05))
