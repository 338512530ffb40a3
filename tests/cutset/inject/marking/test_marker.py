"""Whom the marker gives what. Through a real edge: `local/test_marking.py`."""

import itertools
import time
from collections import Counter
from dataclasses import replace

import pytest

from cutset.errors import PlanError
from cutset.inject.marking.marker import Marker, MarkingOrder
from cutset.inject.marking.matching import AskedRequest
from cutset.model.fault import Fault
from cutset.model.impact import Group, Matching, UserKey
from cutset_agent.carriers import read_plan

KEY = b"a key for tests that nobody guesses"
CUT = frozenset({Fault.parse("web/GET /:abort(503),30%")})
ORDER = MarkingOrder(CUT, "test", ("tracestate", "baggage"), life=5.0, user=UserKey(header="x-user"))
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def asked(user="", path="/", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return AskedRequest("GET", path, named | ({"x-user": user} if user else {}))


def marker_of(order=ORDER, salt="run", may_mark=lambda: True):
    marks = []
    marker = Marker(KEY, salt, may_mark=may_mark, on_mark=marks.append)
    marker.order = order
    return marker, marks


def faults_in(headers):
    parts = read_plan(headers.items(), key=KEY, environment="test", now=time.time())
    assert parts, "no valid plan"
    return [fault for part in parts for fault in part.faults]


def test_fault_carries_the_cut_and_control_an_empty_plan():
    marker, marks = marker_of()
    for number in range(40):
        headers = marker.decide(asked(f"user {number}"))
        assert bool(faults_in(headers)) == (marks[-1].group is Group.FAULT)
        assert headers["traceparent"] == f"00-{marks[-1].trace_id}-{marks[-1].span_id}-01"
    assert Counter(mark.group for mark in marks).keys() == {Group.FAULT, Group.CONTROL}
    assert marker.asked == 40


def test_a_user_stays_in_one_group_and_another_run_divides_users_anew():
    marker, marks = marker_of()
    for number in range(2000):
        marker.decide(asked(f"user {number % 500}"))
    groups = {(mark.user, mark.group) for mark in marks}
    assert len({user for user, _ in groups}) == len(groups) == 500
    with_fault = sum(group is Group.FAULT for _, group in groups)
    assert 250 - 5 * 11.2 < with_fault < 250 + 5 * 11.2  # binomial, five standard deviations

    others, other_marks = marker_of(salt="another run")
    for number in range(500):
        others.decide(asked(f"user {number}"))
    same = sum(a.group == b.group for a, b in zip(marks[:500], other_marks, strict=True))
    assert 250 - 5 * 11.2 < same < 250 + 5 * 11.2
    assert not {mark.user for mark in marks} & {mark.user for mark in other_marks}


def test_without_a_user_a_coin_decides_and_each_request_is_a_user():
    marker, marks = marker_of()
    for _ in range(1000):
        marker.decide(asked())
    assert len({mark.user for mark in marks}) == 1000
    assert 500 - 5 * 15.8 < sum(mark.group is Group.FAULT for mark in marks) < 500 + 5 * 15.8


def test_requests_of_one_trace_are_in_one_group():
    marker, marks = marker_of()
    for number in range(64):
        for _ in range(3):
            marker.decide(asked(traceparent=f"00-{number + 1:032x}-{SPAN}-01"))
    groups = {(mark.trace_id, mark.group) for mark in marks}
    assert len({trace_id for trace_id, _ in groups}) == len(groups) == 64


def test_nothing_of_the_user_is_in_a_mark():
    marker, marks = marker_of()
    marker.decide(asked("alice@example.com"))
    assert "alice" not in repr(marks)


def test_before_the_fault_all_are_control():
    marker, marks = marker_of(replace(ORDER, with_fault=False))
    for number in range(50):
        assert faults_in(marker.decide(asked(f"user {number}"))) == []
    assert {mark.group for mark in marks} == {Group.CONTROL}


def test_a_new_trace_has_64_bits_and_is_sampled():
    marker, marks = marker_of()
    headers = marker.decide(asked())
    assert marks[0].trace_id.startswith("0" * 16)
    assert marks[0].trace_id.strip("0")
    assert headers["traceparent"].endswith("-01")


@pytest.mark.parametrize(
    "context",
    [
        {"traceparent": f"00-{TRACE}-{SPAN}-00"},
        {"b3": f"{TRACE}-{SPAN}-0"},
        {"uber_trace_id": f"{TRACE}:{SPAN}:0:0"},
    ],
)
def test_the_trace_of_the_client_goes_on(context):
    marker, marks = marker_of()
    headers = marker.decide(asked(**context))
    assert (marks[0].trace_id, marks[0].span_id) == (TRACE, SPAN)
    assert headers["traceparent"] == f"00-{TRACE}-{SPAN}-01"
    faults_in(headers)


def test_members_of_others_stay():
    marker, _ = marker_of(replace(ORDER, carriers=("baggage", "datadog")))
    tags = f"_dd.p.dm=-1,_dd.p.tid={TRACE[:16]}"
    headers = marker.decide(
        asked(baggage="tenant=blue, k=v;p=1", x_datadog_tags=tags, traceparent=f"00-{TRACE}-{SPAN}-01")
    )
    assert headers["baggage"].startswith("cutset=")
    assert headers["baggage"].endswith(",tenant=blue,k=v;p=1")
    assert headers["x-datadog-tags"].endswith(",_dd.p.dm=-1")
    assert headers["x-datadog-tags"].count("_dd.p.tid") == 1


@pytest.mark.parametrize("others", [{"baggage": "k=" + "v" * 1000}, {"x_datadog_tags": "_dd.p.k=" + "v" * 60}])
def test_a_request_whose_own_members_leave_no_room_is_left_alone_in_either_group(others):
    marker, marks = marker_of(replace(ORDER, carriers=("baggage", "datadog")))
    assert [marker.decide(asked(f"user {number}", **others)) for number in range(20)] == [{}] * 20
    assert marks == []


def test_what_does_not_match_is_left_alone():
    marker, marks = marker_of(replace(ORDER, matching=Matching(path="/pay")))
    assert marker.decide(asked(path="/")) == {}
    assert marker.decide(asked(path="/pay?card=1"))
    assert (marker.asked, len(marks)) == (2, 1)


def test_every_mark_is_asked_for_right_before_it_is_given():
    answers = iter([True, True, False, True])
    marker, marks = marker_of(may_mark=lambda: next(answers))
    assert [bool(marker.decide(asked())) for _ in range(4)] == [True, True, False, True]
    assert len(marks) == 3


def test_without_an_order_nothing_is_marked():
    marker, marks = marker_of(None)
    assert marker.decide(asked()) == {}
    assert not marker.is_marking
    marker.order = ORDER
    assert marker.is_marking
    marker.order = None
    assert marker.decide(asked()) == {}
    assert (marks, marker.asked) == ([], 2)


def test_who_cannot_be_told_of_a_mark_gets_none():
    def full(_mark):
        raise OSError("no space left on device")

    marker = Marker(KEY, "run", may_mark=lambda: True, on_mark=full)
    marker.order = ORDER
    with pytest.raises(OSError, match="no space"):
        marker.decide(asked())


def test_a_cut_that_no_plan_can_hold_is_refused_when_it_is_ordered():
    marker, _ = marker_of()
    with pytest.raises(PlanError, match="a sidecar cannot do that"):
        marker.order = replace(ORDER, cut=frozenset({Fault.parse("web/GET /:connection-refused")}))
    assert marker.order == ORDER


def test_clock_and_chance_are_given():
    numbers = itertools.count(1)
    marks = []
    now = time.time()
    marker = Marker(
        KEY,
        "run",
        may_mark=lambda: True,
        on_mark=marks.append,
        clock=lambda: now,
        random_hex=lambda size: f"{next(numbers):0{2 * size}x}",
    )
    marker.order = ORDER
    marker.decide(asked("alice"))
    assert (marks[0].trace_id, marks[0].span_id, marks[0].at) == (f"{1:032x}", f"{2:016x}", now)
