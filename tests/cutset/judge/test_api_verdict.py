import pytest

from cutset.judge.api_record import ApiRecord
from cutset.judge.api_verdict import Chances, Terms, describe, judge_api
from cutset.model.impact import ApiCall, ApiImpact, ApiVerdict, Group, ObservedRequest
from cutset.model.point import Point

API = Point("checkout", "PlaceOrder")
TERMS = Terms(alpha=0.01, margin=0.02, questions=2)


def record(
    fault: tuple[int, int], control: tuple[int, int], *, fired: int | None = None, slow: int = 0, users: int = 0
) -> ApiRecord:
    """Failed of how many; so many of the fault group are slow, of as many users; and a fault fired in so many."""
    made = ApiRecord()
    for number in range(150):
        made.before.add(_request(number, Group.CONTROL, users), ApiCall(API, failed=False, seconds=0.01), bad=False)
    for group, (failed, of) in ((Group.CONTROL, control), (Group.FAULT, fault)):
        for number in range(of):
            seconds = 9.0 if group is Group.FAULT and number >= of - slow else 0.01
            call = ApiCall(API, failed=number < failed, seconds=seconds)
            made.add(_request(number, group, users), call, fired=number < (of if fired is None else fired))
    return made


def _request(number: int, group: Group, users: int) -> ObservedRequest:
    return ObservedRequest(f"{group}-{number}", group, f"{group}-{number % users}" if users else "", float(number))


def judged(of: ApiRecord, terms: Terms = TERMS, *, chance: float = 1.0, slow_chance: float = 1.0) -> ApiImpact:
    return judge_api(API, of, Chances(chance, slow_chance), terms)


def test_affected_says_by_how_much() -> None:
    found = judged(record((180, 600), (6, 600)), chance=0.001, slow_chance=0.001)

    assert found.verdict is ApiVerdict.AFFECTED
    assert found.reason == (
        "by failures: 180 of 600 (30.0%) failed, 6 of 600 (1.0%) of the control: +29.0 points (+21.7 to +36.1)"
    )
    assert (found.difference, found.chance, found.more_requests) == (pytest.approx(0.29), 0.001, 0)
    assert found.at_end is None


def test_affected_by_slowness_says_what_is_slow() -> None:
    found = judged(record((0, 600), (0, 600), slow=60), slow_chance=0.001)

    assert found.verdict is ApiVerdict.AFFECTED
    assert found.reason == (
        "by slowness: 60 of 600 (10.0%) failed or took longer than 0.11 s, 0 of 600 (0.0%) of the control: "
        "+10.0 points (+5.5 to +14.4)"
    )


def test_resilient_says_what_it_is_resilient_against() -> None:
    found = judged(record((0, 600), (0, 600), fired=180))

    assert found.verdict is ApiVerdict.RESILIENT
    assert found.reason == (
        "0 of 600 (0.0%) failed, 0 of 600 (0.0%) of the control: +0.0 points (-0.9 to +0.9), "
        "less than the margin of 2; the fault fired in 180 of 600 requests"
    )


def test_at_a_planned_end_the_narrower_interval_decides() -> None:
    of = record((3, 400), (3, 400))
    planned = Terms(alpha=0.01, margin=0.02, ended_as_planned=True)
    watched, ended = judged(of), judged(of, planned)

    assert watched.verdict is ApiVerdict.CANNOT_TELL
    assert ended.at_end is not None
    assert ended.at_end.high - ended.at_end.low < watched.at_any_time.high - watched.at_any_time.low


def test_slow_answers_are_not_resilient() -> None:
    assert judged(record((0, 600), (0, 600), slow=10)).verdict is ApiVerdict.CANNOT_TELL


def test_a_fault_that_fired_in_no_more_requests_than_the_margin_proves_nothing() -> None:
    found = judged(record((0, 600), (0, 600), fired=12))

    assert found.verdict is ApiVerdict.CANNOT_TELL
    assert found.reason == (
        "the fault fired in 12 of 600 requests, which is not more than the margin: raise the rate, or lower it"
    )
    assert judged(record((0, 600), (0, 600), fired=0), Terms(0.01, 0.02, expects_fault=False)).verdict is (
        ApiVerdict.RESILIENT
    )


def test_few_users_prove_little_however_many_requests_they_send() -> None:
    assert judged(record((0, 3000), (0, 3000), users=3000)).verdict is ApiVerdict.RESILIENT
    assert judged(record((0, 3000), (0, 3000), users=30)).verdict is ApiVerdict.CANNOT_TELL


def test_how_many_more_would_decide_is_about_what_it_then_takes() -> None:
    early = judged(record((0, 100), (0, 100)))

    assert early.verdict is ApiVerdict.CANNOT_TELL
    assert early.reason.endswith(f"about {early.more_requests} more requests in each group would decide")
    enough = 100 + early.more_requests
    assert judged(record((0, enough), (0, enough))).verdict is ApiVerdict.RESILIENT
    assert judged(record((0, enough - 20), (0, enough - 20))).verdict is ApiVerdict.CANNOT_TELL


def test_what_fails_notably_more_often_needs_fewer_more_requests() -> None:
    few, many = judged(record((4, 50), (0, 50))), judged(record((9, 300), (1, 300)))

    assert 0 < few.more_requests < many.more_requests


def test_lost_spans_and_obstacles_keep_verdicts_back() -> None:
    lost = Terms(alpha=0.01, margin=0.02, lost="40 requests left no span")
    broken = Terms(alpha=0.01, margin=0.02, obstacle="no fault fired")

    assert judged(record((0, 600), (0, 600)), lost).verdict is ApiVerdict.CANNOT_TELL
    assert judged(record((0, 600), (0, 600)), lost).reason.endswith("but 40 requests left no span")
    assert judged(record((180, 600), (0, 600)), lost, chance=0.001).verdict is ApiVerdict.AFFECTED
    assert judged(record((180, 600), (0, 600)), broken, chance=0.001).verdict is ApiVerdict.CANNOT_TELL
    assert judged(record((180, 600), (0, 600)), broken).reason == "no fault fired"


def test_an_api_that_one_group_never_called_is_not_compared() -> None:
    found = judged(record((0, 0), (3, 50)))

    assert found.verdict is ApiVerdict.CANNOT_TELL
    assert found.reason == "no request with the fault called it yet"
    assert found.difference == 0


def test_what_is_faulted_itself_is_described_and_not_judged() -> None:
    found = describe(API, record((180, 600), (0, 600)), TERMS)

    assert found.verdict is ApiVerdict.CANNOT_TELL
    assert found.reason == "faulted itself: not judged"
    assert found.difference == pytest.approx(0.3)
