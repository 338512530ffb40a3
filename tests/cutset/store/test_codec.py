import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.effects import EFFECTS

from cutset.errors import InputError
from cutset.model.effect import Effect, EffectChoice, EffectKind
from cutset.model.event import (
    CampaignEvent,
    CampaignStarted,
    ExperimentFinished,
    RequestAudited,
    RequestFinished,
)
from cutset.model.evidence import EvidenceKept, KeptAnswer, KeptSpan
from cutset.model.fault import Fault
from cutset.model.hardening import (
    CallsObserved,
    CutRechecked,
    Effort,
    HardeningEvent,
    HardeningStarted,
    Latency,
    MeshChanged,
    MeshChanging,
)
from cutset.model.impact import (
    ApiCall,
    Group,
    GuardTripped,
    ImpactEvent,
    ImpactStarted,
    ImpactWindow,
    Matching,
    ObservedRequest,
    RequestsObserved,
    Tally,
    TrafficSource,
    UserKey,
    WindowEnded,
    WindowStarted,
)
from cutset.model.mesh import MeshService
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.codec import event_from_json, event_to_json, from_jsonable, to_jsonable

names = st.text(min_size=1, max_size=8)
points = st.builds(Point, service=names, api=names, caller=st.just("") | names, replica=st.just("") | names)
faults = st.builds(Fault, points, st.builds(Effect, st.just(EffectKind.DELAY), st.integers(1, 1000)))
cuts = st.frozensets(faults, max_size=2)
outcomes = st.builds(
    Outcome,
    cut=st.frozensets(faults, max_size=3),
    verdict=st.sampled_from(Verdict),
    reason=st.text(),
    path=st.frozensets(points, max_size=3),
    failed=st.frozensets(points, max_size=2),
    calls=st.frozensets(points, max_size=3),
    trace_ids=st.lists(st.text(), max_size=2).map(tuple),
    requests=st.integers(1, 9),
    dead=st.lists(st.text(), max_size=1).map(tuple),
)
events = st.one_of(
    st.builds(
        CampaignStarted,
        requests=st.lists(st.text()).map(tuple),
        max_size=st.integers(1, 9),
        points=st.text(),
        effects=st.builds(
            EffectChoice,
            st.lists(EFFECTS, max_size=2).map(tuple),
            st.lists(st.tuples(st.text(), st.tuples(EFFECTS)), max_size=1).map(tuple),
        ),
        strategy=st.text(),
        certificates=st.text(),
        across_requests=st.text(),
        repeats=st.integers(0, 9),
        flake_rate=st.floats(0, 1),
    ),
    st.builds(
        EvidenceKept,
        request=st.text(),
        cut=cuts,
        trace_id=st.text(),
        answer=st.none() | st.builds(KeptAnswer, seconds=st.floats(0, 1e9)),
        spans=st.lists(st.builds(KeptSpan), max_size=2).map(tuple),
        left_out=st.integers(0, 99),
    ),
    st.builds(
        RequestAudited,
        request=st.text(),
        healthy=st.booleans(),
        reason=st.text(),
        calls=st.frozensets(points, max_size=3),
        not_reached=st.frozensets(points, max_size=3),
        trace_ids=st.lists(st.text(), max_size=2).map(tuple),
        runs=st.lists(outcomes, max_size=2).map(tuple),
        edges=st.lists(st.tuples(points, points), max_size=2).map(tuple),
    ),
    st.builds(
        ExperimentFinished,
        request=st.text(),
        outcome=outcomes,
        left=st.integers(0, 99),
        round=st.integers(0, 99),
        predicted=st.integers(0, 99),
        certificates=st.integers(0, 99),
        complete_up_to=st.integers(-1, 9),
    ),
    st.builds(
        RequestFinished,
        request=st.text(),
        complete_up_to=st.integers(-1, 9),
        reason=st.text(),
        undecided=st.lists(cuts, max_size=2).map(tuple),
        assumption=st.text(),
        masked=st.lists(st.tuples(cuts, cuts), max_size=2).map(tuple),
        predicted=st.lists(cuts, max_size=2).map(tuple),
    ),
    st.builds(RunFinished, reason=st.text()),
    st.builds(
        RunStarted,
        loop=st.sampled_from(Loop),
        run=st.text(),
        fingerprint=st.dictionaries(st.text(), st.text(), max_size=2),
        command=st.text(),
    ),
)

seconds = st.floats(0, 1e9)
texts = st.dictionaries(st.text(), st.text(), max_size=2)
observed_requests = st.builds(
    ObservedRequest,
    trace_id=st.text(),
    group=st.sampled_from(Group),
    user=st.text(),
    at=seconds,
    entry=st.none() | points,
    calls=st.lists(st.builds(ApiCall, points, st.booleans(), seconds, *[st.integers(0, 9)] * 3), max_size=2).map(tuple),
    callers=st.lists(st.tuples(points, points), max_size=2).map(tuple),
)
tallies = st.builds(Tally, points, st.integers(0), st.integers(0), st.integers(0), seconds)
windows = st.sampled_from(ImpactWindow)
impact_events = st.one_of(
    st.builds(
        ImpactStarted,
        cut=cuts,
        traffic=st.sampled_from(TrafficSource),
        shares=st.lists(st.floats(0, 1), max_size=3).map(tuple),
        seconds=st.dictionaries(windows, seconds),
        entries=st.lists(st.text(), max_size=2).map(tuple),
        matching=st.builds(Matching, st.text(), st.text(), texts, texts, texts),
        user=st.builds(UserKey, st.text(), st.text()),
        alpha=st.floats(0, 1),
        margin=st.floats(0, 1),
        workflow=st.integers(0, 9),
        by=st.text(),
    ),
    st.builds(WindowStarted, window=windows, at=seconds, share=st.floats(0, 1)),
    st.builds(
        WindowEnded,
        window=windows,
        at=seconds,
        marked=st.dictionaries(st.sampled_from(Group), st.integers(0)),
        asked=st.integers(0),
        reason=st.text(),
    ),
    st.builds(
        RequestsObserved,
        window=windows,
        at=seconds,
        requests=st.lists(observed_requests, max_size=2).map(tuple),
        others=st.lists(tallies, max_size=2).map(tuple),
    ),
    st.builds(GuardTripped, guard=st.text(), reason=st.text(), at=seconds),
)


@given(events)
def test_every_event_survives_the_round_trip_through_json(event: CampaignEvent) -> None:
    assert event_from_json(*event_to_json(event)) == event


@given(impact_events)
def test_so_does_every_event_of_an_impact(event: ImpactEvent) -> None:
    assert event_from_json(*event_to_json(event)) == event


@pytest.mark.parametrize(
    "event",
    [
        HardeningStarted(campaign="one", services=(MeshService("cart", "grpc", ("h:1",), fallback={"Get": "empty"}),)),
        CallsObserved(
            efforts={"GET /": Effort(0.1, 2, 3.5)},
            latencies={Point("cart", "Get"): Latency(9, 0.1, 0.2, 0.3, 0.4)},
            recovered={Point("ad", "GET /ads", caller="web"): 2},
        ),
        MeshChanging(file=Path("a.yaml"), original=Path("/b"), added=("x.y: 1",), kept=(), left_out=("z",)),
        MeshChanged(),
        CutRechecked(request="GET /", outcome=Outcome(frozenset(), Verdict.SURVIVED), expected_gone=True),
    ],
)
def test_so_does_every_event_of_a_hardening(event: HardeningEvent) -> None:
    assert event_from_json(*event_to_json(event)) == event


@pytest.mark.parametrize(
    ("kind", "fields"),
    [("RunFinished", "{"), ("RequestFinished", "{}"), ("Other", "{}"), ("RequestFinished", '{"surprise": 1}')],
)
def test_an_event_that_cannot_be_read_is_shown(kind: str, fields: str) -> None:
    with pytest.raises(InputError, match=kind):
        event_from_json(kind, fields)


def test_what_an_event_lacks_and_has_a_default_is_left_at_it() -> None:
    fields = {"request": "GET /", "complete_up_to": 3, "reason": "", "undecided": [["x/Y"]]}

    assert event_from_json("RequestFinished", json.dumps(fields)) == RequestFinished(
        request="GET /", complete_up_to=3, reason="", undecided=(frozenset({Fault.parse("x/Y")}),)
    )


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Inner:
    path: Path
    colours: Mapping[str, Colour]


@dataclass(frozen=True, slots=True)
class Outer:
    inner: Inner | None
    pair: tuple[int, str]
    many: tuple[float, ...] = ()


@pytest.mark.parametrize(
    "outer", [Outer(None, (1, "x")), Outer(Inner(Path("a/b"), {"x": Colour.RED}), (2, ""), (1.5, 2.0))]
)
def test_any_frozen_dataclass_of_plain_fields_survives_the_round_trip(outer: Outer) -> None:
    assert from_jsonable(Outer, json.loads(json.dumps(to_jsonable(outer)))) == outer


@pytest.mark.parametrize(
    "value", [{"inner": None, "pair": [1]}, {"inner": None, "pair": [1, 2]}, {"inner": 3, "pair": [1, ""]}]
)
def test_a_value_of_another_type_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        from_jsonable(Outer, value)


def test_what_the_ledger_cannot_hold_is_refused_when_it_is_written() -> None:
    with pytest.raises(TypeError, match="bytes is not for the ledger"):
        to_jsonable({"body": b"x"})


def test_half_of_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        event_from_json("RunFinished", '{"reason": "\\uD83D"}')
    whole = event_from_json("RunFinished", '{"reason": "\\ud83d\\ude00"}')
    assert whole == RunFinished(reason="\U0001f600")
