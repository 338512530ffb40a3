from tests.samples.small_shop import cut, get

from cutset.experiment.lifetimes import Lifetimes, answer_seconds, longest_life
from cutset.model.fault import BASELINE

REQUEST = get("/page", max_seconds=10.0)
ABORT = cut("ad/GET /ads")


def known(seconds: float) -> Lifetimes:
    lifetimes = Lifetimes()
    lifetimes.note(REQUEST, BASELINE, seconds, escaped=False)
    return lifetimes


def test_a_plan_lives_as_long_as_its_request_may_take_until_more_is_known():
    assert Lifetimes().seconds(REQUEST, ABORT) == longest_life(REQUEST) == 12


def test_a_plan_lives_for_what_its_request_needs_and_a_grace():
    assert known(0.01).seconds(REQUEST, ABORT) == 2
    assert known(1.5).seconds(REQUEST, ABORT) == 4
    assert known(1.5).seconds(REQUEST, cut("ad/GET /ads:delay(250ms)")) == 4.5
    assert known(9.0).seconds(REQUEST, ABORT) == 12


def test_the_slowest_answer_without_a_fault_counts():
    lifetimes = known(1.5)
    lifetimes.note(REQUEST, BASELINE, 0.1, escaped=False)
    lifetimes.note(REQUEST, ABORT, 10.0, escaped=False)
    assert lifetimes.seconds(REQUEST, ABORT) == 4


def test_a_cut_whose_plan_came_too_late_gets_all_the_time_from_then_on():
    lifetimes = known(0.01)
    lifetimes.note(REQUEST, ABORT, 3.0, escaped=True)
    assert lifetimes.seconds(REQUEST, ABORT) == longest_life(REQUEST)
    assert lifetimes.seconds(REQUEST, cut("cart/GET /items")) == 2


def test_faults_that_may_leave_a_call_alone_get_all_the_time():
    for fault in ("ad/GET /ads:abort(503),50%", "ad/GET /ads:abort(503),attempts=1"):
        assert known(0.01).seconds(REQUEST, cut(fault)) == longest_life(REQUEST)


def test_no_plan_lives_longer_than_readers_allow():
    assert longest_life(get("/page", max_seconds=600.0)) == 120


def test_a_plan_with_a_timeout_lives_as_long_as_anybody_waits():
    both = cut("cart/GET /items:timeout") | ABORT
    assert answer_seconds(REQUEST, both) > REQUEST.expect.max_seconds
    for lifetimes in (Lifetimes(), known(0.01)):
        assert answer_seconds(REQUEST, both) < lifetimes.seconds(REQUEST, both) < longest_life(REQUEST, ABORT)
