import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from tests.samples.small_shop import Shop, get, points
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.errors import TargetError
from cutset.experiment.audit import Audit, _usable_instrumentation, audit, undisturbed_audit
from cutset.experiment.trial import Trial
from cutset.lineage.completeness import Instrumentation
from cutset.lineage.path import Level, read_lineage
from cutset.model.coverage import OutOfReach, Uncoverable
from cutset.model.fault import BASELINE
from cutset.model.request import Request, Response
from cutset.traces.collector import Collector
from cutset.traces.encodings import Encoding


@asynccontextmanager
async def background(shop: Shop, service: str, path: str, every_seconds: float) -> AsyncIterator[None]:
    """Others call the service all the time."""

    async def call_forever() -> None:
        while True:
            async with shop.session.get(f"http://{shop.mesh.addresses[service]}{path}") as response:
                assert response.status == 200
            await asyncio.sleep(every_seconds)

    async with asyncio.TaskGroup() as group:
        calling = group.create_task(call_forever())
        yield
        calling.cancel()


def test_the_calls_of_a_request_that_hands_on_its_context_are_all_reached(shop, run):
    found = run(audit(shop.bench(), get("/page")))

    assert found.calls == points("cart/GET /items", "ad/GET /ads")
    assert found.not_reached == frozenset()
    assert len({trial.trace_id for trial in found.trials}) == 3


def test_the_audit_learns_which_services_tell_of_their_calls(shop, run):
    found = run(audit(shop.bench(), get("/mixed")))

    assert found.instrumentation == Instrumentation(telling=frozenset({"web", "cart"}), silent=frozenset({"relay"}))


def test_a_call_inside_the_trace_but_without_the_plan_is_not_reached(shop, run):
    found = run(audit(shop.bench(), get("/forgetful")))

    assert found.calls == points("forgetful/GET /pass")
    assert found.not_reached == points("cart/GET /items")
    detail = "the call has `traceparent`, but not the plan that came to forgetful in `baggage`, `tracestate`"
    assert found.uncoverable == (
        Uncoverable("calls past the mesh", OutOfReach.UNTOLD, "forgetful"),
        Uncoverable("cart/GET /items", OutOfReach.WITHOUT_PLAN, "forgetful", detail=detail),
    )


def test_a_call_in_a_trace_of_its_own_is_not_reached(shop, run):
    found = run(audit(shop.bench(), get("/fresh")))

    assert found.calls == points("cart/GET /items")
    assert found.not_reached == points("currency/GET /convert")
    assert found.uncoverable == (Uncoverable("currency/GET /convert", OutOfReach.OTHER_TRACE, "web"),)


def test_a_call_at_another_services_real_port_is_past_the_mesh(shop, run):
    found = run(audit(shop.bench(), get("/direct")))

    assert found.calls == points("cart/GET /items")
    assert found.not_reached == frozenset()
    assert found.uncoverable == (Uncoverable("GET /ads", OutOfReach.PAST_MESH, "web", shop.real_ports["ad"]),)


def test_a_call_in_a_trace_of_its_own_is_not_reached_though_it_carries_the_plan(shop, run):
    """As services make it that hand on baggage, and begin a trace of their own."""

    async def find() -> Audit:
        receive = shop.collector.receive

        def into_another_trace(payload: bytes, encoding: Encoding) -> None:
            spans = [
                replace(span, trace_id=f"{int(span.trace_id, 16) ^ 1:032x}", parent_id="")
                if span.attributes.get("cutset.service") == "ad"
                else span
                for span in encoding.spans(payload)
            ]
            receive(payload, replace(encoding, spans=lambda _: spans))

        shop.collector.receive = into_another_trace
        try:
            return await audit(shop.bench(), get("/quiet"))
        finally:
            del shop.collector.receive

    found = run(find())

    assert found.calls == points("cart/GET /items")
    assert found.not_reached == points("ad/GET /ads")


@pytest.mark.parametrize("request_under_test", [get("/quiet"), get("/slow")], ids=["quick", "slow"])
def test_what_others_call_all_the_time_is_not_put_down_to_the_request(shop, run, request_under_test: Request):
    async def find() -> Audit:
        async with background(shop, "currency", "/convert", every_seconds=0.03):
            return await audit(shop.bench(), request_under_test)

    assert run(find()).not_reached == frozenset()


def test_what_somebody_else_calls_once_is_not_put_down_to_the_request(shop, run):
    async def call_once() -> None:
        await asyncio.sleep(0.05)  # the request under way takes four times as long
        async with shop.session.get(f"http://{shop.mesh.addresses['currency']}/convert") as response:
            assert response.status == 200

    async def find() -> Audit:
        found, _ = await asyncio.gather(audit(shop.bench(), get("/slow")), call_once())
        return found

    assert run(find()).not_reached == frozenset()


def test_a_call_in_a_trace_of_its_own_is_found_amid_what_others_call(shop, run):
    async def find() -> Audit:
        async with background(shop, "vault", "/open", every_seconds=0.03):
            return await audit(shop.bench(), get("/fresh"))

    assert run(find()).not_reached == points("currency/GET /convert")


def test_what_a_set_up_step_calls_is_not_put_down_to_the_request(shop, run):
    found = run(audit(shop.bench(), get("/quiet", setup=("/fresh",))))

    assert found.not_reached == frozenset()


def test_when_calls_go_where_the_mesh_does_not_see_them_the_shape_of_traces_proves_nothing(shop, run):
    async def find() -> Audit:
        with shop.losing(lambda span: span.attributes.get("cutset.service") == "ad"):
            return await audit(shop.bench(), get("/quiet"))

    found = run(find())

    assert found.instrumentation is None
    assert found.calls == points("cart/GET /items")


def test_without_any_span_nothing_is_known(shop, run):
    found = run(audit(shop.bench(collector=Collector(), trace_timeout=0.05), get("/page")))

    assert not any(trial.traced for trial in found.trials)
    assert found.calls == found.not_reached == frozenset()
    assert found.instrumentation is None


def test_spans_that_are_lost_in_one_run_do_not_make_a_service_silent():
    """As happens while an exporter finds its collector."""
    whole = trace(Made("a/A"), Made("b/B"))
    lossy = [span for span in whole if span.service != "a"]
    trials = [
        Trial(
            "t" * 32, ROOT, Response(200), read_lineage(spans, ROOT, BASELINE, Level.API), tuple(spans), True, "", False
        )
        for spans in (lossy, whole, lossy)
    ]

    found = _usable_instrumentation(trials)

    assert found is not None
    assert found.telling == {"frontend", "a", "b"}
    assert found.silent == frozenset()


def test_an_audit_that_misses_spans_each_time_proves_nothing(shop, run):
    bench = shop.bench()

    async def lose_something() -> None:
        bench.collector.losses += 1

    usual, bench.collector.up_to_date = bench.collector.up_to_date, lose_something
    try:
        with pytest.raises(TargetError, match="spans were lost"):
            run(undisturbed_audit(bench, get("/page")))
    finally:
        bench.collector.up_to_date = usual
