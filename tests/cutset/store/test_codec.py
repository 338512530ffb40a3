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
    ),
    st.builds(
        RequestAudited,
        request=st.text(),
        healthy=st.booleans(),
        reason=st.text(),
        calls=st.frozensets(points, max_size=3),
        not_reached=st.frozensets(points, max_size=3),
        trace_ids=st.lists(st.text(), max_size=2).map(tuple),
    ),
    st.builds(ExperimentFinished, request=st.text(), outcome=outcomes, left=st.integers(0, 99)),
    st.builds(
        RequestFinished,
        request=st.text(),
        complete_up_to=st.integers(-1, 9),
        reason=st.text(),
        undecided=st.lists(st.frozensets(points, max_size=2), max_size=2).map(tuple),
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
