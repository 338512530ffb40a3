"""Every laboratory keeps every promise of `laboratory.py`: on a real local mesh, and in a simulation."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conformance.laboratory import PROMISES, Promise, Specimen
from tests.samples.simulated_campaign import SimulatedLaboratory
from tests.samples.small_shop import get, open_shop

from cutset.experiment.mesh_laboratory import MeshLaboratory
from cutset.model.point import Point
from cutset.model.request import Request, Step
from cutset.simulation.simulated import All, Cache, Call, FirstOf, Optional

SYSTEMS = {
    "tolerant": All((Call("needed"), Optional(Call("optional")))),
    "redundant": FirstOf((Call("primary"), Call("backup"))),
    "varying": All((Call("needed"), Cache(Call("sometimes"), hit_rate=0.5))),
    "forgetful": All((Call("needed"), Call("unreached"))),
    "broken": FirstOf(()),
}
CALLED = ("needed", "optional", "primary", "backup", "sometimes", "unreached")


@pytest.fixture(scope="module")
def run() -> Iterator[Any]:
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="module")
def local_mesh(run: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    opening = open_shop(tmp_path_factory.mktemp("mesh"))
    shop = run(opening.__aenter__())
    shop.stumbles["web/broken"] = 10**6
    yield Specimen(
        laboratory=MeshLaboratory(shop.bench(), repeats=2),
        tolerant=get("/quiet"),
        needed=Point("cart", "GET /items"),
        optional=Point("ad", "GET /ads"),
        redundant=get("/stock"),
        primary=Point("stock", "Count"),
        backup=Point("cart", "GET /items"),
        forgetful=get("/fresh"),
        unreached=Point("currency", "GET /convert"),
        varying=get("/cached"),
        sometimes=Point("currency", "GET /convert"),
        broken=get("/broken"),
        absent=Point("email", "Send"),
        kill=shop.mortal.stop,
        revive=shop.mortal.start,
    )
    run(opening.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def simulation() -> Specimen:
    requests = {name: Request(name, Step("GET", "/")) for name in SYSTEMS}
    points = {name: Point("simulated", name) for name in CALLED}
    laboratory = SimulatedLaboratory(systems=SYSTEMS, unreached=frozenset({points["unreached"]}))

    async def kill() -> None:
        laboratory.alive.clear()

    async def revive() -> None:
        laboratory.alive.set()

    return Specimen(laboratory, **requests, **points, absent=Point("email", "Send"), kill=kill, revive=revive)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
@pytest.mark.parametrize("system", ["local_mesh", "simulation"])
def test_a_laboratory_keeps_its_promises(
    system: str, promise: Promise, run: Any, request: pytest.FixtureRequest
) -> None:
    specimen = request.getfixturevalue(system)

    run(asyncio.wait_for(promise(specimen), timeout=60))
