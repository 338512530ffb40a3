import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.errors import InputError
from cutset.model.event import (
    CampaignFinished,
    CampaignStarted,
    Event,
    ExperimentFinished,
    RequestAudited,
    RequestFinished,
)
from cutset.model.fault import Effect, EffectKind, Fault
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point
from cutset.store.codec import event_from_json, event_to_json

names = st.text(min_size=1, max_size=8)
points = st.builds(Point, service=names, api=names, caller=st.just("") | names, replica=st.just("") | names)
faults = st.builds(Fault, points, st.builds(Effect, st.just(EffectKind.DELAY), st.integers(1, 1000)))
cuts = st.frozensets(points, max_size=2)
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
        settings=st.text(),
        max_size=st.integers(1, 9),
        replay=st.text(),
        strategy=st.text(),
        certificates=st.text(),
        across_requests=st.text(),
        repeats=st.integers(0, 9),
        flake_rate=st.floats(0, 1),
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
    st.builds(CampaignFinished, reason=st.text()),
)


@given(events)
def test_every_event_survives_the_round_trip_through_json(event: Event) -> None:
    assert event_from_json(*event_to_json(event)) == event


@pytest.mark.parametrize(
    ("kind", "fields"),
    [("CampaignFinished", "{"), ("CampaignFinished", "{}"), ("Other", "{}"), ("RequestFinished", '{"surprise": 1}')],
)
def test_an_event_that_cannot_be_read_is_shown(kind: str, fields: str) -> None:
    with pytest.raises(InputError, match=kind):
        event_from_json(kind, fields)


def test_events_of_older_ledgers_are_read_with_what_they_lack_left_empty() -> None:
    outcome = {"cut": [], "verdict": "survived", "reason": "", "path": [], "failed": [], "calls": []}
    outcome |= {"trace_ids": [], "requests": 1, "dead": []}
    audited = {"request": "GET /", "healthy": True, "reason": "", "calls": [], "not_reached": [], "trace_ids": []}
    old = {
        "CampaignStarted": {"requests": ["GET /"], "settings": "", "max_size": 3, "replay": ""},
        "RequestAudited": audited,
        "ExperimentFinished": {"request": "GET /", "outcome": outcome, "left": 2},
        "RequestFinished": {"request": "GET /", "complete_up_to": 3, "reason": "", "undecided": [["x/Y"]]},
    }

    assert [event_from_json(kind, json.dumps(fields)) for kind, fields in old.items()] == [
        CampaignStarted(requests=("GET /",), settings="", max_size=3, replay=""),
        RequestAudited(
            request="GET /", healthy=True, reason="", calls=frozenset(), not_reached=frozenset(), trace_ids=()
        ),
        ExperimentFinished(request="GET /", outcome=Outcome(frozenset(), Verdict.SURVIVED), left=2),
        RequestFinished(request="GET /", complete_up_to=3, reason="", undecided=(frozenset({Point.parse("x/Y")}),)),
    ]
