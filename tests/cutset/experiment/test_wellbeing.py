import asyncio

import pytest
from tests.samples.small_shop import KEY, PATIENCE_SECONDS, get, points

from cutset.errors import HaltedError
from cutset.experiment import wellbeing
from cutset.experiment.liveness import Liveness
from cutset.experiment.mesh_laboratory import MeshLaboratory
from cutset.experiment.trial import attempt, send_unfaulted
from cutset.experiment.wellbeing import trouble_without_fault, wait_until_answered, wait_until_there, wait_until_well
from cutset.inject.local.mesh import run_mesh
from cutset.judge.rules import Baseline, judge
from cutset.model.fault import BASELINE
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.outcome import Verdict
from cutset.model.target import Target
from cutset.traces.collector import Collector

NOWHERE = "127.0.0.1:9"  # the discard service, which nobody runs


def sender(shop, path="/quiet", **changes):
    """Sends the request without a fault, as a laboratory does."""
    bench = shop.bench(**changes)

    async def send():
        trial = await attempt(bench, get(path), BASELINE, catalogue=(), instrumentation=None)
        baseline = Baseline(frozenset({200}), 1.0, frozenset())
        return trial, judge(trial.response, get(path).expect, baseline)

    return send


def test_a_request_that_works_is_no_trouble(shop, run):
    trouble, trial = run(trouble_without_fault(sender(shop), frozenset()))

    assert (trouble, trial.traced) == ("", True)


def test_a_call_that_fails_though_the_request_is_answered_is_trouble_unless_it_always_does(shop, run):
    shop.stumbles["ad/ads"] = 2

    trouble, _ = run(trouble_without_fault(sender(shop), frozenset()))
    usual, _ = run(trouble_without_fault(sender(shop), points("ad/GET /ads")))

    assert trouble == "without any fault there are failures that were not there before; what fails is ad/GET /ads"
    assert usual == ""


def test_a_trace_that_does_not_arrive_is_trouble(shop, run):
    trouble, _ = run(trouble_without_fault(sender(shop, collector=Collector(), trace_timeout=0.1), frozenset()))

    assert trouble == "the trace of a request without any fault did not arrive"


def test_what_comes_back_in_time_is_waited_for_and_what_does_not_halts_everything(shop, run, monkeypatch):
    monkeypatch.setattr(wellbeing, "POLL_SECONDS", 0.01)
    shop.stumbles["cart/items"] = 3
    run(wait_until_well(get("/quiet"), sender(shop), frozenset()))
    assert shop.stumbles["cart/items"] == 0

    monkeypatch.setattr(wellbeing, "RECOVERY_SECONDS", 0)
    shop.stumbles["cart/items"] = 1
    with pytest.raises(HaltedError, match="Stopped at GET /quiet: without any fault the request fails too"):
        run(wait_until_well(get("/quiet"), sender(shop), frozenset()))


def test_a_server_that_is_not_there_in_time_is_given_up(shop, run, monkeypatch):
    monkeypatch.setattr(wellbeing, "RECOVERY_SECONDS", 0)

    assert run(wait_until_there(shop.bench().servers))
    assert not run(wait_until_there(Liveness((shop.bench().target.entry, NOWHERE))))


def test_a_mesh_that_is_killed_halts_the_experiment_at_once_and_one_that_is_back_lets_it_go_on(
    shop, run, tmp_path, monkeypatch
):
    """The request never leaves, so that nothing waits for its trace."""
    monkeypatch.setattr(wellbeing, "RECOVERY_SECONDS", 0)
    (cart,) = (service for service in shop.mesh.spec.services if service.name == "cart")
    spec = MeshSpec((MeshService("cart", "http", cart.replicas),), entry="cart", collector=shop.collector.grpc_address)

    async def killed_and_back() -> Verdict:
        with run_mesh(spec, key=KEY, work_dir=tmp_path / "first") as mesh:
            bench = shop.bench(target=Target(mesh.entry_url), trace_timeout=600)
            laboratory = MeshLaboratory(bench, repeats=2)
            assert (await laboratory.audit(get("/items"))).healthy
        with pytest.raises(HaltedError, match=f"the entry at {bench.target.entry} stopped answering"):
            await laboratory.run(get("/items"), BASELINE)
        with run_mesh(mesh.spec, key=KEY, work_dir=tmp_path / "second"):
            return (await laboratory.run(get("/items"), BASELINE)).verdict

    assert run(asyncio.wait_for(killed_and_back(), PATIENCE_SECONDS)) is Verdict.SURVIVED


def test_an_answer_is_waited_for_and_one_that_does_not_come_halts_everything(shop, run, monkeypatch):
    monkeypatch.setattr(wellbeing, "POLL_SECONDS", 0.01)

    def send():
        return send_unfaulted(shop.bench(), get("/quiet"))

    shop.stumbles["cart/items"] = 3
    run(wait_until_answered(get("/quiet"), send))
    assert shop.stumbles["cart/items"] == 0

    monkeypatch.setattr(wellbeing, "RECOVERY_SECONDS", 0)
    shop.stumbles["cart/items"] = 1
    with pytest.raises(HaltedError, match="Stopped at GET /quiet: it worked a moment ago, and fails without any fault"):
        run(wait_until_answered(get("/quiet"), send))


def test_a_request_that_worked_a_moment_ago_is_audited_when_it_works_again(shop, run, monkeypatch):
    monkeypatch.setattr(wellbeing, "POLL_SECONDS", 0.01)
    shop.stumbles["cart/items"] = 5
    broken = run(MeshLaboratory(shop.bench(), repeats=1).audit(get("/quiet")))
    shop.stumbles["cart/items"] = 5
    disturbed = run(MeshLaboratory(shop.bench(), repeats=1, answered=frozenset({"GET /quiet"})).audit(get("/quiet")))

    assert (broken.healthy, disturbed.healthy) == (False, True)
