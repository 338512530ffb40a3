import asyncio

from tests.samples.small_shop import PATIENCE_SECONDS, cut, get, points

from cutset.experiment import outlived
from cutset.experiment import trial as trial_module
from cutset.experiment.mesh_laboratory import MeshLaboratory
from cutset.model.outcome import Verdict

ADS = cut("ad/GET /ads")


def test_a_fault_that_fires_long_after_its_request_is_told_with_the_name_of_the_call(shop, run, monkeypatch):
    """As in a worker that a request has started, and that goes on in the request's context."""
    monkeypatch.setattr(outlived, "GRACE_SECONDS", 0.1)
    plans = []

    def remembering(*given, **options):
        plans.append(plan_headers(*given, **options))
        return plans[-1]

    plan_headers = trial_module.plan_headers
    monkeypatch.setattr(trial_module, "plan_headers", remembering)

    async def campaign():
        bench = shop.bench()
        laboratory = MeshLaboratory(bench, repeats=1)
        assert (await laboratory.audit(get("/page"))).healthy
        before = await laboratory.run(get("/page"), ADS)
        kept = next(plan for plan in plans if "~" in plan["baggage"])  # the audit's are empty
        await asyncio.sleep(0.15)  # as long as the grace: there is nothing to wait for but time
        arrived = asyncio.Event()
        bench.collector.subscribe(lambda spans: arrived.set() if laboratory._outlived._points else None)
        async with bench.client.get(f"http://{shop.mesh.addresses['ad']}/ads", headers=kept) as answer:
            assert answer.status == 503
        async with asyncio.timeout(PATIENCE_SECONDS):
            await arrived.wait()
        return before, await laboratory.run(get("/page"), ADS), await laboratory.run(get("/page"), ADS)

    before, after, later = run(campaign())
    assert before.verdict is Verdict.DEGRADED
    assert (before.outlived, after.outlived, later.outlived) == (frozenset(), points("ad/GET /ads"), frozenset())
