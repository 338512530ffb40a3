from dataclasses import replace

import pytest

from cutset.guards.vital_signs import VitalSigns
from cutset.impact.agreement import Agreement
from cutset.model.fault import BASELINE
from cutset.model.impact import (
    ApiCall,
    ApiImpact,
    ApiSample,
    ApiVerdict,
    Group,
    Impact,
    ImpactStarted,
    ImpactWindow,
    ObservedRequest,
    RequestsObserved,
    Tally,
    TrafficSource,
)
from cutset.model.point import Point

HOME, CART = Point("frontend", "GET /"), Point("cart", "GetCart")
STARTED = ImpactStarted(cut=BASELINE, traffic=TrafficSource.LIVE, shares=(0.05,), seconds={})
NOTHING_KNOWN = Impact("run", STARTED, apis=())
UNSEEN = ObservedRequest("trace", Group.FAULT, "user", 0.0)


def request(group: Group, *, failed: bool = False, seconds: float = 0.1) -> ObservedRequest:
    calls = (ApiCall(HOME, failed, seconds), ApiCall(CART, True, 0.05))
    return ObservedRequest("trace", group, "user", 0.0, HOME, calls)


def observed(window: ImpactWindow, *requests: ObservedRequest, others: tuple[Tally, ...] = ()) -> RequestsObserved:
    return RequestsObserved(window=window, at=0.0, requests=requests, others=others)


def affected(*apis: Point) -> Impact:
    sample = ApiSample()
    impacts = (ApiImpact(api, ApiVerdict.AFFECTED, "", sample, sample, sample) for api in apis)
    return replace(NOTHING_KNOWN, apis=tuple(impacts))


BOTH = observed(ImpactWindow.DURING, request(Group.FAULT), request(Group.CONTROL))


def test_nothing_speaks_against_going_on_once_requests_of_both_groups_were_seen() -> None:
    agreement = Agreement(VitalSigns())
    agreement.add(BOTH)

    assert agreement.objection(NOTHING_KNOWN) == ""


@pytest.mark.parametrize(
    "events",
    [
        [],
        [observed(ImpactWindow.DURING, request(Group.CONTROL), UNSEEN)],
        [observed(ImpactWindow.BEFORE, request(Group.FAULT), request(Group.CONTROL))],
    ],
    ids=["nothing", "one group", "before"],
)
def test_what_nobody_saw_is_no_reason_to_go_on(events: list[RequestsObserved]) -> None:
    agreement = Agreement(VitalSigns())
    for event in events:
        agreement.add(event)

    assert agreement.objection(NOTHING_KNOWN) == "no request of both groups was seen"


def test_each_step_has_to_be_seen() -> None:
    agreement = Agreement(VitalSigns())
    agreement.add(BOTH)
    agreement.begin_step()

    assert agreement.objection(NOTHING_KNOWN)


@pytest.mark.parametrize(
    ("result", "objection"),
    [
        (affected(HOME), "`frontend/GET /` is affected"),
        (affected(HOME, CART), "`frontend/GET /`, `cart/GetCart` are affected"),
        (replace(NOTHING_KNOWN, problems=("no fault fired", "spans are lost")), "no fault fired; spans are lost"),
    ],
)
def test_known_harm_and_what_cannot_be_believed_are_objections(result: Impact, objection: str) -> None:
    agreement = Agreement(VitalSigns())
    agreement.add(BOTH)

    assert agreement.objection(result) == objection


def test_a_control_that_gets_worse_is_told_with_its_numbers() -> None:
    agreement = Agreement(VitalSigns())
    agreement.add(observed(ImpactWindow.BEFORE, *[request(Group.CONTROL)] * 200))
    assert not agreement.control_worse

    agreement.add(observed(ImpactWindow.DURING, *[request(Group.CONTROL, failed=True)] * 100))

    assert agreement.control_worse.startswith("requests without the fault fail more often than before: ")
    assert agreement.control_worse.endswith(", and 0 of 200 before")
    assert agreement.objection(NOTHING_KNOWN) == agreement.control_worse


def test_without_a_window_before_nothing_is_known_to_be_worse() -> None:
    agreement = Agreement(VitalSigns())
    agreement.add(observed(ImpactWindow.DURING, *[request(Group.CONTROL, failed=True)] * 100))

    assert not agreement.control_worse


def test_guards_are_told_of_requests_themselves_and_not_of_calls_inside() -> None:
    signs = VitalSigns(latency=1.0)
    agreement = Agreement(signs)
    signs.mark()

    agreement.add(
        observed(
            ImpactWindow.DURING,
            request(Group.FAULT, failed=True),
            request(Group.CONTROL, seconds=2.0),
            UNSEEN,
            others=(Tally(HOME, 10, 3, 2, 1.0), Tally(CART, 10, 10)),
        )
    )

    assert signs.failed == 1
    assert (signs.lately().requests, signs.lately().failed, signs.lately().slow) == (11, 3, 3)
    assert signs.silence() == 0.0


def test_marks_without_any_span_are_silence() -> None:
    moments = iter(range(100))
    signs = VitalSigns(clock=lambda: float(next(moments)))
    signs.mark()
    Agreement(signs).add(observed(ImpactWindow.DURING, UNSEEN))

    assert signs.silence() > 0
