import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest
from tests.samples.gates import gate_of
from tests.samples.small_shop import FORWARDED, PATIENCE_SECONDS, SERVICES, cut, get, points

from cutset.errors import HaltedError
from cutset.experiment.trial import UNDER_WAY, Bench, Trial, attempt, send_unfaulted
from cutset.lineage.calls import entry_spans, is_mesh_span
from cutset.lineage.completeness import Instrumentation
from cutset.model.fault import BASELINE, Cut
from cutset.model.request import FunctionStep, Request, Response, WorkloadStep
from cutset.model.span import Span
from cutset.store.audit import audit_entries
from cutset.traces.collector import Collector
from cutset.workload.functions import WorkloadCall, run_function

FORWARDING = frozenset(FORWARDED)
KNOWN = Instrumentation(telling=frozenset(SERVICES) - FORWARDING, silent=FORWARDING)
# With these, nothing but its shape ends the wait for a trace before patience ends.
BY_SHAPE_ONLY = {"export_interval": 600.0, "trace_timeout": 600.0}


async def trial_of(
    bench: Bench, request: Request, faults: Cut = BASELINE, known: Instrumentation | None = KNOWN, **changes: object
) -> Trial:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await attempt(replace(bench, **changes), request, faults, catalogue=(), instrumentation=known)


def of_mesh(service: str, span: Span) -> bool:
    return span.attributes.get("cutset.service") == service


def test_a_trace_that_closes_by_its_shape_does_not_wait_for_silence(shop, run):
    trial = run(trial_of(shop.bench(), get("/page"), **BY_SHAPE_ONLY))

    assert trial.lineage.path == points("cart/GET /items", "ad/GET /ads")
    assert not trial.missing
    assert trial.response.status == 200


def test_a_faulted_call_closes_the_trace_and_leaves_the_path(shop, run):
    trial = run(trial_of(shop.bench(), get("/page"), cut("ad/GET /ads"), **BY_SHAPE_ONLY))

    assert trial.lineage.path == points("cart/GET /items")
    assert trial.lineage.failed == points("ad/GET /ads")
    assert trial.lineage.fired == cut("ad/GET /ads")


def test_services_that_only_forward_headers_are_known_by_the_mesh_after_silence(shop, run):
    def told_by_service(span: Span) -> bool:
        return not is_mesh_span(span)

    with shop.losing(told_by_service):
        trial = run(trial_of(shop.bench("relay"), get("/page"), known=None))

    assert trial.lineage.path == points("cart/GET /items", "ad/GET /ads")
    assert not trial.missing


def test_a_forwarding_service_amid_instrumented_ones_is_waited_for_until_silence(shop, run):
    trial = run(trial_of(shop.bench(), get("/mixed")))

    assert trial.lineage.path == points("relay/GET /pass", "cart/GET /items")
    assert not trial.missing


@pytest.mark.parametrize(
    ("path", "fault", "fallback"),
    [
        ("/hasty", "ad/GET /ads:delay(60000ms)", "cart/GET /items"),
        ("/stock", "stock/Count:delay(60000ms)", "cart/GET /items"),
    ],
    ids=["http", "grpc"],
)
def test_a_delayed_call_that_its_caller_gave_up_closes_the_trace(shop, run, path, fault, fallback):
    trial = run(trial_of(shop.bench(), get(path), cut(fault), **BY_SHAPE_ONLY))

    assert trial.response.status == 200
    assert trial.lineage.fired == cut(fault)
    assert trial.lineage.path == points(fallback)
    assert not trial.missing
    assert not trial.abandoned


def test_a_tolerated_delay_stays_on_the_path(shop, run):
    fault = cut("stock/Count:delay(50ms)")

    trial = run(trial_of(shop.bench(), get("/stock"), fault, **BY_SHAPE_ONLY))

    assert trial.lineage.fired == fault
    assert trial.lineage.path == points("stock/Count")
    assert trial.lineage.failed == frozenset()


def test_a_delay_that_outlives_its_caller_and_the_answer_is_still_proved(shop, run):
    """The mesh tells of the delayed call only when the delay ends, long after everybody else has gone silent."""
    fault = cut("stock/Count:delay(1500ms)")

    trial = run(trial_of(shop.bench(), get("/nested"), fault))

    assert trial.response.status == 200
    assert trial.lineage.fired == fault
    assert trial.lineage.path == points("cart/GET /items")


@pytest.mark.parametrize(
    ("lost", "missing"),
    [
        (lambda span: of_mesh("ad", span), "the mesh's span of the call '/ads' by 'web'"),
        (lambda span: span.service == "cart", "the span by which 'cart' itself tells of its answer"),
    ],
    ids=["a span of the mesh", "a span of a service"],
)
def test_a_trace_that_lost_a_span_says_which(shop, run, lost, missing):
    with shop.losing(lost):
        trial = run(trial_of(shop.bench(trace_timeout=0.4), get("/page")))

    assert trial.missing == missing


def test_a_span_that_comes_later_than_it_should_is_waited_for(shop, run):
    with shop.losing(lambda span: of_mesh("cart", span), found_after_seconds=0.3):
        trial = run(trial_of(shop.bench(export_interval=0.01), get("/page")))

    assert trial.lineage.path == points("cart/GET /items", "ad/GET /ads")
    assert not trial.missing


def test_a_request_whose_spans_go_elsewhere_is_not_traced(shop, run):
    trial = run(trial_of(shop.bench(collector=Collector(), trace_timeout=0.1), get("/page")))

    assert trial.response.status == 200
    assert not trial.traced


def test_an_unfaulted_request_carries_an_empty_plan(shop, run):
    async def first_span() -> Span:
        arrived: asyncio.Queue[Span] = asyncio.Queue()

        def listen(spans: Sequence[Span]) -> None:
            for span in spans:
                if of_mesh("web", span):
                    arrived.put_nowait(span)

        unsubscribe = shop.collector.subscribe(listen)
        await send_unfaulted(shop.bench(), get("/quiet"))
        span = await arrived.get()
        unsubscribe()
        return span

    assert run(first_span()).attributes["cutset.api"] == "GET /quiet"


def test_a_trace_of_which_spans_may_have_been_missed_proves_nothing(shop, run):
    bench = shop.bench()

    def lose_something(_: Sequence[Span]) -> None:
        bench.collector.losses += 1

    unsubscribe = bench.collector.subscribe(lose_something)
    try:
        trial = run(trial_of(bench, get("/page")))
    finally:
        unsubscribe()

    assert (trial.traced, trial.spans, trial.lineage.path) == (False, (), frozenset())


def made_by_code(shop, *paths, exchanges, told=None) -> Request:
    """Code that makes several requests with one plan, and after each of them asks what has fired."""
    bench = shop.bench()

    async def run(headers) -> Response:
        for number, path in enumerate(paths, start=1):
            async with bench.client.get(bench.url + path, headers=headers) as answer:
                await answer.read()
            if told is not None:
                told.append(await UNDER_WAY.get().fired(number))
        return Response(200, exchanges=exchanges, told=told[-1] if told else None)

    return Request("code", FunctionStep("code", run))


def test_the_trace_of_code_that_makes_several_requests_closes_when_all_of_them_are_there(shop, run):
    request = made_by_code(shop, "/leaf", "/quiet", "/page", exchanges=3)

    trial = run(trial_of(shop.bench(), request, cut("ad/GET /ads"), **BY_SHAPE_ONLY))

    assert trial.lineage.path == points("cart/GET /items")
    assert trial.lineage.fired == cut("ad/GET /ads")
    assert len(entry_spans(trial.spans, trial.root_id)) == 3


def test_the_trace_of_code_whose_requests_nobody_counted_ends_by_silence(shop, run):
    trial = run(trial_of(shop.bench(), made_by_code(shop, "/leaf", "/page", exchanges=0)))

    assert trial.lineage.path == points("cart/GET /items", "ad/GET /ads")


def test_code_that_asks_is_told_what_fired_so_far_and_nothing_outside_of_a_trial(shop, run):
    told: list[Cut] = []
    request = made_by_code(shop, "/leaf", "/page", exchanges=2, told=told)

    trial = run(trial_of(shop.bench(), request, cut("ad/GET /ads"), **BY_SHAPE_ONLY))

    assert told == [BASELINE, cut("ad/GET /ads")]
    assert trial.response.told == trial.lineage.fired
    assert UNDER_WAY.get() is None


def test_all_requests_of_a_workload_are_one_execution(shop, run):
    async def visit(call: WorkloadCall) -> Response:
        await call.get("/page")
        return await call.get("/patient")

    request = Request("visit", WorkloadStep("visit", partial(run_function, "visit", visit)))
    trial = run(trial_of(shop.bench(), request, cut("stock/Count"), **BY_SHAPE_ONLY))

    assert trial.lineage.path == points("cart/GET /items", "ad/GET /ads")
    assert trial.lineage.fired == cut("stock/Count")
    assert trial.response.status >= 500


def test_what_carries_a_fault_passes_the_gate_and_what_carries_none_does_not(shop, run, tmp_path):
    gate = gate_of(tmp_path)
    run(trial_of(shop.bench(), get("/page"), gate=gate, **BY_SHAPE_ONLY))
    assert list(audit_entries(tmp_path)) == []

    trial = run(trial_of(shop.bench(), get("/page"), cut("ad/GET /ads"), gate=gate, **BY_SHAPE_ONLY))

    (entry,) = audit_entries(tmp_path)
    assert (entry.cut, entry.trace_id) == ("ad/GET /ads:abort(503)", trial.trace_id)
    assert (gate.signs.marked, gate.signs.lately().requests) == (1, 1)


def test_behind_a_closed_gate_nothing_is_sent_that_carries_a_fault(shop, run, tmp_path):
    gate = gate_of(tmp_path)
    gate.brake.pull("error-rate", "too many")
    arrived = []
    stop = shop.collector.subscribe(arrived.extend)
    try:
        with pytest.raises(HaltedError, match="too many"):
            run(trial_of(shop.bench(), get("/page"), cut("ad/GET /ads"), gate=gate))
        calm = run(trial_of(shop.bench(), get("/page"), gate=gate, **BY_SHAPE_ONLY))
    finally:
        stop()
    assert {span.trace_id for span in arrived} == {calm.trace_id}
    assert list(audit_entries(tmp_path)) == []
