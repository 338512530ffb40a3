"""Impacts on requests of our own, in a small shop behind a real mesh; live ones are in `tests/end_to_end`."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.samples.recorded_orders import exchange
from tests.samples.small_shop import EXPORT_SECONDS, HOST, KEY, PATIENCE_SECONDS, Shop, get, open_shop

from cutset.app.demo import free_ports
from cutset.app.impact import ImpactForecast, ImpactPlan, measure
from cutset.app.impact_results import impacts_in
from cutset.campaign.settings import Limits
from cutset.config.explore import Config
from cutset.errors import HaltedError, InputError, PlanError, UsageError
from cutset.guards.halting import HaltOrder, give_order, lift_order
from cutset.guards.settings import GuardSettings
from cutset.impact.settings import ImpactSettings
from cutset.model.fault import format_cut
from cutset.model.impact import ApiVerdict, Group, ImpactEvent, ImpactStarted, TrafficSource
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.model.target import Receiver, Target
from cutset.process.whom import user_at_host
from cutset.store.active import ActiveInjection, injecting
from cutset.store.audit import audit_entries
from cutset.store.ledger import open_ledger
from cutset.workload.recording.folder import open_recording

Run = Callable[[Coroutine[Any, Any, Any]], Any]
QUICK = ImpactSettings(before=1.0, during=60.0, after=0.5, load=20.0, margin=30.0)
OWN = TrafficSource.LOAD


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="module")
def receiver() -> Receiver:
    http_port, grpc_port = free_ports(2)
    nobody = {"jaeger_compact_port": None, "jaeger_binary_port": None, "jaeger_http_port": None, "zipkin_port": None}
    return Receiver(HOST, http_port, grpc_port, export_interval=EXPORT_SECONDS, **nobody)


@pytest.fixture(scope="module")
def shop(run: Run, receiver: Receiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    opening = open_shop(tmp_path_factory.mktemp("mesh"), receiver)
    yield run(opening.__aenter__())
    run(opening.__aexit__(None, None, None))


@pytest.fixture
def config(shop: Shop, receiver: Receiver) -> Config:
    return Config(
        target=Target(url=f"http://{shop.mesh.addresses['web']}"),
        requests=(get("/page"),),
        collector=receiver,
        limits=Limits(trace_timeout=PATIENCE_SECONDS),
        impact=QUICK,
    )


async def measured(
    config: Config, store: Path, *parts: tuple[str, ...], traffic: TrafficSource = OWN, **options: Any
) -> list[ImpactEvent]:
    workflow, recording = options.pop("workflow", 0), options.pop("recording", None)
    plan = ImpactPlan(parts, traffic, recording=recording, workflow=workflow)
    async with asyncio.timeout(90):
        return [event async for event in measure(config, plan, key=KEY, store=store, **options)]


def test_a_fault_that_a_request_needs_is_found_and_recorded(run: Run, config: Config, tmp_path: Path) -> None:
    events = run(measured(config, tmp_path, ("cart/GET /items",)))

    begun, started, *_, ended = events
    assert isinstance(begun, RunStarted)
    assert (begun.loop, begun.command, begun.part_of) == (Loop.IMPACT, "impact", "")
    assert isinstance(started, ImpactStarted)
    assert (format_cut(started.cut), started.entries, started.by) == (
        "cart/GET /items:abort(503)",
        ("GET /page",),
        user_at_host(),
    )
    assert isinstance(ended, RunFinished)
    (impact,) = impacts_in(events)
    assert {str(api.api): api.verdict for api in impact.apis} == {"web/GET /page": ApiVerdict.AFFECTED}
    with open_ledger(tmp_path) as ledger:
        assert [type(event) for event in ledger.events(begun.run)] == [type(event) for event in events]
    groups = [entry.group for entry in audit_entries(tmp_path) if entry.run == begun.run]
    assert groups.count(Group.FAULT) == impact.marked[Group.FAULT] > 0


def test_a_fault_that_is_tolerated_is_called_resilient(run: Run, config: Config, tmp_path: Path) -> None:
    (impact,) = impacts_in(run(measured(config, tmp_path, ("ad",))))
    assert format_cut(impact.started.cut) == "ad/*:abort(503)"
    assert impact.verdict is ApiVerdict.RESILIENT
    assert impact.faulted > 0


def test_a_recording_is_replayed_user_by_user(run: Run, config: Config, tmp_path: Path) -> None:
    with open_recording(tmp_path / "recording") as recording:
        recording.append([exchange(0, "GET /page", service="web")])
    replayed = replace(config, requests=())

    events = run(
        measured(
            replayed,
            tmp_path,
            ("cart/GET /items",),
            traffic=TrafficSource.REPLAY,
            recording=tmp_path / "recording",
        )
    )

    (impact,) = impacts_in(events)
    assert (impact.started.traffic, impact.verdict) == (TrafficSource.REPLAY, ApiVerdict.AFFECTED)


def test_parts_of_a_workflow_are_runs_of_their_own_and_what_cannot_be_is_left_out(
    run: Run, config: Config, tmp_path: Path
) -> None:
    told: list[str] = []
    parts = (("cart",), ("nobody",), ("web>cart/GET /items",), ("ad",))

    events = run(measured(config, tmp_path, *parts, workflow=3, on_note=told.append))

    begun = [event for event in events if isinstance(event, RunStarted)]
    assert [event.part_of for event in begun] == ["", begun[0].run]
    assert [format_cut(impact.started.cut) for impact in impacts_in(events)] == ["cart/*:abort(503)", "ad/*:abort(503)"]
    assert {impact.started.workflow for impact in impacts_in(events)} == {3}
    assert [note.partition(":")[0] for note in told] == ["left out"] * 2
    assert "No request was seen to call `nobody`" in told[0]
    assert "no agent in it was seen to make it" in told[1]
    with pytest.raises(UsageError, match="Nothing of workflow 3 can be injected"):
        run(measured(config, tmp_path, ("nobody",), workflow=3))


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("cart/GET /itms", (UsageError, "No request was seen to call `cart/GET /itms`")),
        ("web/GET /page", (UsageError, "is what users call")),
        ("cart/GET /items:connection-reset", (PlanError, "a sidecar cannot do that")),
        ("cart/GET /items:abort(99)", (InputError, "an HTTP status")),
    ],
)
def test_what_cannot_be_injected_is_said_before_a_run_begins(
    run: Run, config: Config, tmp_path: Path, fault: str, error: tuple[type[Exception], str]
) -> None:
    with pytest.raises(error[0], match=error[1]):
        run(measured(config, tmp_path, (fault,)))
    assert not list(audit_entries(tmp_path))


def test_nothing_is_sent_where_all_is_halted(run: Run, config: Config, tmp_path: Path, shop: Shop) -> None:
    give_order(tmp_path, HaltOrder("ada@till", 1_800_000_000.0, "lunch"))
    before = shop.answered.total()
    with pytest.raises(HaltedError, match="lunch"):
        run(measured(config, tmp_path, ("cart",)))
    assert shop.answered.total() == before
    lift_order(tmp_path)


def test_a_second_impact_in_the_same_environment_is_refused(run: Run, config: Config, tmp_path: Path) -> None:
    other = ActiveInjection("first", Loop.IMPACT, "local", "ada@till", 1, 1.0, "ad/*:abort(503) in 5 % of requests")
    with injecting(tmp_path, other):
        with pytest.raises(UsageError, match="The impact `first` of ada@till is under way in `local`"):
            run(measured(config, tmp_path, ("cart",)))
        elsewhere = replace(other, run="second", environment="staging")
    with injecting(tmp_path, elsewhere):
        assert impacts_in(run(measured(config, tmp_path, ("cart",))))


def test_a_budget_ends_it_with_what_is_known(run: Run, config: Config, tmp_path: Path) -> None:
    events: list[ImpactEvent] = []

    async def few() -> None:
        guarded = replace(config, guards=GuardSettings(max_marked=40))
        plan = ImpactPlan((("ad",),), OWN)
        async for event in measure(guarded, plan, key=KEY, store=tmp_path):
            events.append(event)  # noqa: PERF401 -- also those before it raises

    with pytest.raises(HaltedError, match="budget"):
        run(few())
    (impact,) = impacts_in(events)
    assert impact.guard
    assert impact.guard.guard == "budget"
    assert len(list(audit_entries(tmp_path))) == 40


def test_who_is_asked_may_say_no_and_then_nothing_is_injected(run: Run, config: Config, tmp_path: Path) -> None:
    forecasts: list[ImpactForecast] = []

    async def no(forecast: ImpactForecast) -> None:
        forecasts.append(forecast)
        raise UsageError("Nothing was injected")

    with pytest.raises(UsageError, match="Nothing was injected"):
        run(measured(config, tmp_path, ("cart",), approve=no))
    assert forecasts[0].what == "cart/*:abort(503)"
    assert not list(audit_entries(tmp_path))


def test_live_requests_need_a_mesh_with_an_edge(run: Run, config: Config, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file of one beside the configuration"):
        run(measured(config, tmp_path, ("cart",), traffic=TrafficSource.LIVE))
