"""On a real shop behind a real mesh."""

import asyncio
from pathlib import Path

import pytest
from tests.samples.small_shop import cut, get, open_shop, points

from cutset.errors import TargetError
from cutset.experiment.mesh_laboratory import MeshLaboratory
from cutset.model.hardening import CallsObserved
from cutset.verify.observe import RUNS, audit_all, observe

PAGE, TWINS = get("/page"), get("/twins")
ITEMS, ADS, ONE = (next(iter(points(name))) for name in ("cart/GET /items", "ad/GET /ads", "twins/GET /one"))


def observed(work_dir: Path) -> CallsObserved:
    async def observed_in_shop() -> CallsObserved:
        async with open_shop(work_dir) as shop:
            laboratory = MeshLaboratory(shop.bench(), repeats=1)
            await audit_all(laboratory, [PAGE, TWINS])
            cuts = [(PAGE, cut("cart/GET /items:abort(503)")), (TWINS, cut("twins/GET /one#1:abort(503)"))]
            return await observe(laboratory, [PAGE, TWINS], cuts, parallel=2)

    return asyncio.run(observed_in_shop())


def test_requests_are_timed_call_by_call_and_their_attempts_counted(tmp_path: Path) -> None:
    found = observed(tmp_path)
    page = found.efforts["GET /page"]
    assert (page.calls, page.calls_with_faults) == (2, 1)
    assert 0 < page.seconds < 5
    assert found.latencies.keys() == {ITEMS, ADS, ONE}
    assert found.latencies[ITEMS].calls == RUNS
    assert 0 < found.latencies[ITEMS].median <= found.latencies[ITEMS].longest
    assert found.recovered == {}


def test_a_request_that_is_ill_is_not_worked_with(tmp_path: Path) -> None:
    async def audited() -> None:
        async with open_shop(tmp_path) as shop:
            await audit_all(MeshLaboratory(shop.bench(), repeats=1), [get("/page", status=(418,))])

    with pytest.raises(TargetError, match="`GET /page` does not work even without faults"):
        asyncio.run(audited())
