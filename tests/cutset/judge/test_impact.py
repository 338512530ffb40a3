from collections.abc import Iterable
from dataclasses import replace

import pytest
from tests.samples.simulated_impact import (
    AFTER,
    BEFORE,
    BEGIN,
    CART,
    CHARGE,
    CHECKOUT,
    DURING,
    HOME,
    ORDER,
    Shop,
    Traffic,
    impact_events,
    started,
)

from cutset.errors import InputError
from cutset.judge.impact import ImpactTally, impact_of
from cutset.model.fault import BASELINE
from cutset.model.impact import (
    ApiCall,
    ApiImpact,
    ApiVerdict,
    Group,
    GuardTripped,
    Impact,
    ImpactEvent,
    ObservedRequest,
    RequestsObserved,
    Tally,
    WindowEnded,
    WindowStarted,
)
from cutset.model.point import Point
from cutset.model.run import RunFinished

AFFECTED, RESILIENT, CANNOT_TELL = ApiVerdict.AFFECTED, ApiVerdict.RESILIENT, ApiVerdict.CANNOT_TELL
LONG = Traffic(seconds=(10, 120, 5))


def impact(shop: Shop, traffic: Traffic = LONG, *, seed: int = 1) -> Impact:
    return impact_of(impact_events(shop, traffic, seed=seed))


def of(found: Impact, api: Point) -> ApiImpact:
    return next(each for each in (*found.apis, *found.target) if each.api == api)


def verdicts(found: Impact) -> dict[Point, ApiVerdict]:
    return {each.api: each.verdict for each in found.apis}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_fault_that_fails_the_request_affects_everything_upstream(seed: int) -> None:
    found = impact(Shop(harm=1.0), seed=seed)

    assert verdicts(found) == {CHECKOUT: AFFECTED, ORDER: AFFECTED}
    assert found.verdict is AFFECTED
    assert of(found, CHECKOUT).reason.startswith("by failures: ")
    assert of(found, CHECKOUT).at_any_time.low < 0.3 < of(found, CHECKOUT).at_any_time.high
    assert found.problems == ()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_fault_that_is_tolerated_leaves_everything_upstream_resilient(seed: int) -> None:
    found = impact(Shop(failing=0.002), seed=seed)

    assert verdicts(found) == {CHECKOUT: RESILIENT, ORDER: RESILIENT}
    assert found.faulted > 100


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_fault_that_retries_mend_is_resilient_and_shows_as_amplification(seed: int) -> None:
    found = impact(Shop(harm=1.0, retries=5, delay=0.01, failing=0.002), seed=seed)

    assert verdicts(found) == {CHECKOUT: RESILIENT, ORDER: RESILIENT}
    assert of(found, CHARGE).control.attempts == 1
    assert of(found, CHARGE).fault.attempts == pytest.approx(1 / 0.7, abs=0.1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_fault_that_only_takes_time_affects_by_slowness(seed: int) -> None:
    found = impact(Shop(delay=0.4), seed=seed)
    entry = of(found, CHECKOUT)

    assert verdicts(found) == {CHECKOUT: AFFECTED, ORDER: AFFECTED}
    assert entry.reason.startswith("by slowness: ")
    assert entry.chance == 1
    assert entry.slower is not None
    assert 0.3 < entry.slower.low < entry.slower.high < 0.7


def test_a_fault_that_half_of_the_orders_reach_and_half_of_those_die_of_is_found() -> None:
    found = impact(Shop(harm=0.5, reached=0.5))

    assert verdicts(found) == {CHECKOUT: AFFECTED, ORDER: AFFECTED}
    assert of(found, CHECKOUT).fault.requests > 1.5 * of(found, CHARGE).fault.requests


def test_without_an_effect_nothing_is_called_affected_in_forty_runs_that_are_watched() -> None:
    alarms = 0
    for seed in range(40):
        tally, alarmed = ImpactTally(), False
        for event in impact_events(Shop(failing=0.05), Traffic(seconds=(5, 30, 1)), seed=seed):
            tally.add(event)
            if isinstance(event, RequestsObserved):
                alarmed |= tally.result().verdict is AFFECTED
        alarms += alarmed

    assert alarms <= 2  # 0.4 expected at most: more are seen once in a hundred times


def test_each_api_that_is_asked_about_makes_the_others_less_certain() -> None:
    two_apis = impact_of(impact_events(Shop(harm=0.5)))
    one_api = impact_of(impact_events(Shop(harm=0.5), begin=started(fault="checkout/PlaceOrder")))

    assert verdicts(one_api).keys() == {CHECKOUT}
    assert of(two_apis, CHECKOUT).chance == pytest.approx(2 * of(one_api, CHECKOUT).chance)


def test_a_drift_of_everybody_while_the_fault_lasts_is_not_blamed_on_it() -> None:
    for seed in range(4):
        found = impact(Shop(failing=0.01, worse=lambda second: 1 + second / 6), seed=seed)
        entry = of(found, CHECKOUT)

        assert entry.fault.failed > 5 * (1 + entry.before.failed)
        assert entry.verdict is not AFFECTED


def test_sticky_users_who_fail_again_and_again_raise_no_false_alarm() -> None:
    """A test of their requests would, in four of ten runs."""
    shop, traffic = Shop(failing=0.05, alike=0.3), Traffic(seconds=(5, 80, 1), users=120)
    found = [impact(shop, traffic, seed=seed) for seed in range(15)]

    assert not any(each.verdict is AFFECTED for each in found)
    assert any(abs(of(each, CHECKOUT).difference) > 0.03 for each in found)


def test_sticky_users_do_not_hide_harm() -> None:
    found = impact(Shop(harm=1.0, alike=0.3), Traffic(users=300))

    assert found.verdict is AFFECTED
    assert of(found, CHECKOUT).fault.users < of(found, CHECKOUT).fault.requests


def test_apis_that_do_not_lead_to_the_fault_are_not_judged() -> None:
    found = impact(Shop(home=0.5))

    assert [each.api for each in found.apis] == [CHECKOUT, ORDER]
    assert [each.is_entry for each in found.apis] == [True, False]
    assert [each.api for each in found.target] == [CHARGE]
    assert (HOME, CART) in found.callers


def test_a_fault_of_a_whole_service_makes_all_of_its_apis_targets() -> None:
    found = impact_of(impact_events(Shop(home=0.5), begin=started(fault="cart/*")))

    assert {each.api for each in found.apis} == {CHECKOUT, HOME, ORDER}
    assert [each.api for each in found.target] == [CART]


def test_an_entry_counts_all_of_its_requests_whether_or_not_they_reached_the_fault() -> None:
    found = impact(Shop(reached=0.1))

    assert of(found, CHECKOUT).fault.requests == found.marked[Group.FAULT]
    assert of(found, CHARGE).fault.requests < 0.2 * found.marked[Group.FAULT]


def test_with_nothing_to_inject_all_apis_are_compared() -> None:
    nothing = replace(started(), cut=BASELINE)
    found = impact_of(impact_events(Shop(rate=1, failing=0.0), LONG, begin=nothing))

    assert {each.api for each in found.apis} == {CHECKOUT, ORDER, CHARGE, CART}
    assert found.target == ()
    assert of(found, CHECKOUT).verdict is RESILIENT


def test_lost_spans_are_a_problem_and_keep_everything_from_being_resilient() -> None:
    found = impact(Shop(failing=0.0), replace(LONG, lost=(0.04, 0.04)))

    assert found.not_seen[Group.FAULT] == pytest.approx(0.04 * found.marked[Group.FAULT], rel=0.5)
    assert len(found.problems) == 2
    assert found.problems[0].endswith("marked requests (fault) left no span")
    assert set(verdicts(found).values()) == {CANNOT_TELL}


def test_a_few_lost_spans_are_none() -> None:
    assert impact(Shop(failing=0.0), replace(LONG, lost=(0.005, 0.005))).verdict is RESILIENT


def test_spans_that_one_group_loses_are_a_problem_even_if_they_are_few() -> None:
    found = impact(Shop(failing=0.0), replace(LONG, marked=100, lost=(0.015, 0.0)))

    assert [problem.split(":")[0] for problem in found.problems] == [
        "more requests of one group than of the other left no span"
    ]
    assert found.verdict is CANNOT_TELL


def test_lost_spans_do_not_hide_harm() -> None:
    assert impact(Shop(harm=1.0), replace(LONG, lost=(0.1, 0.1))).verdict is AFFECTED


def test_groups_of_unequal_size_keep_anything_from_being_told() -> None:
    found = impact(Shop(harm=1.0), replace(LONG, marked=40, share_of_fault=0.4))

    assert found.problems[0].startswith("the groups are not of equal size, ")
    assert set(verdicts(found).values()) == {CANNOT_TELL}
    assert of(found, CHECKOUT).chance < 0.01


def test_busy_users_of_one_group_do_not_make_groups_unequal() -> None:
    found = impact(Shop(), Traffic(users=40))

    assert abs(found.marked[Group.FAULT] - found.marked[Group.CONTROL]) > 100
    assert found.problems == ()


def test_a_fault_that_never_fired_tells_nothing() -> None:
    found = impact_of(impact_events(Shop(failing=0.0), begin=started(fault="payment/Charge"), seed=1))
    unfired = impact_of(_without_firing(impact_events(Shop(failing=0.0))))

    assert found.problems == ()
    assert unfired.problems == (f"no fault fired in {unfired.marked[Group.FAULT]} requests that carried it",)
    assert set(verdicts(unfired).values()) == {CANNOT_TELL}


def _without_firing(events: Iterable[ImpactEvent]) -> Iterable[ImpactEvent]:
    for event in events:
        if isinstance(event, RequestsObserved):
            requests = (
                replace(request, calls=tuple(replace(call, faulted=0) for call in request.calls))
                for request in event.requests
            )
            yield replace(event, requests=tuple(requests))
        else:
            yield event


def test_a_fault_that_nothing_calls_has_nothing_upstream() -> None:
    found = impact_of(impact_events(Shop(), begin=started(fault="email/Send")))

    assert found.apis == ()
    assert found.verdict is CANNOT_TELL
    assert "nothing is upstream" in found.problems[-1]


def test_the_narrower_interval_is_told_only_where_the_end_was_planned() -> None:
    planned, decided = impact(Shop()), impact(Shop(), replace(LONG, reason="decided"))

    assert all(each.at_end is not None for each in planned.apis)
    assert all(each.at_end is None for each in decided.apis)
    running = ImpactTally()
    for event in impact_events(Shop(), LONG):
        if isinstance(event, WindowEnded) and event.window is DURING:
            break
        running.add(event)
    assert all(each.at_end is None for each in running.result().apis)


def test_a_guard_that_tripped_did_not_plan_the_end() -> None:
    events = list(impact_events(Shop(), LONG))
    tripped = GuardTripped(guard="halt", reason="by hand", at=BEGIN)
    found = impact_of([*events[:5], tripped, *events[5:]])

    assert found.guard == tripped
    assert all(each.at_end is None for each in found.apis)


def test_the_next_step_of_a_ramp_is_no_end() -> None:
    events = list(impact_events(Shop(), LONG))
    end = next(index for index, event in enumerate(events) if isinstance(event, WindowEnded) and event.window is DURING)
    tally = ImpactTally()
    for event in events[: end + 1]:
        tally.add(event)
    tally.add(WindowStarted(window=DURING, at=BEGIN + 200, share=0.1))

    assert all(each.at_end is None for each in tally.result().apis)


def test_requests_before_the_fault_are_a_sample_of_their_own() -> None:
    found = impact(Shop(harm=1.0), Traffic(seconds=(10, 20, 1), marked=30))

    assert of(found, CHECKOUT).before.requests == 300
    assert found.marked[Group.FAULT] + found.marked[Group.CONTROL] == 600


def test_what_is_told_late_still_counts() -> None:
    late = ObservedRequest("late", Group.FAULT, "", BEGIN, CHECKOUT, (ApiCall(CHECKOUT, failed=False, seconds=0.1),))
    events = list(impact_events(Shop()))
    without = impact_of(events)
    found = impact_of([*events[:-1], RequestsObserved(window=AFTER, at=BEGIN + 99, requests=(late,)), events[-1]])

    assert of(found, CHECKOUT).fault.requests == of(without, CHECKOUT).fault.requests + 1


def test_the_first_failed_traces_of_each_group_are_named() -> None:
    entry = of(impact(Shop(harm=1.0, failing=0.05)), CHECKOUT)

    assert len(entry.fault.failed_traces) == len(set(entry.fault.failed_traces)) == 10
    assert len(entry.control.failed_traces) == 10
    assert set(entry.fault.failed_traces).isdisjoint(entry.control.failed_traces)


def test_unmarked_requests_of_the_entry_are_counted_while_the_fault_lasts() -> None:
    found = impact(Shop(), Traffic(seconds=(10, 60, 5)))

    assert found.others_failed == (60, 6000)


def after_the_fault(*failed: int) -> Impact:
    """Failures of a hundred unmarked requests in each second after the fault."""
    events = list(impact_events(Shop(), Traffic(seconds=(10, 20, 0))))[:-1]
    end = BEGIN + 30
    seconds = [
        RequestsObserved(window=AFTER, at=end + second, others=(Tally(CHECKOUT, requests=100, failed=each),))
        for second, each in enumerate(failed, start=1)
    ]
    return impact_of([*events, *seconds, RunFinished()])


def test_recovery_is_seen_in_unmarked_requests_after_the_fault() -> None:
    recovered, off, well = after_the_fault(40, 30, 20, *[1] * 10), after_the_fault(*[40] * 9), after_the_fault(1, 0, 2)

    assert (of(recovered, CHECKOUT).recovered_after, of(recovered, CHECKOUT).still_off) == (3, False)
    assert (of(off, CHECKOUT).recovered_after, of(off, CHECKOUT).still_off) == (None, True)
    assert (of(well, CHECKOUT).recovered_after, of(well, CHECKOUT).still_off) == (None, False)


def test_the_order_of_looks_changes_nothing() -> None:
    events = list(impact_events(Shop(harm=0.1)))
    tally = ImpactTally()
    for event in events:
        tally.add(event)
        if isinstance(event, RequestsObserved):
            tally.result()

    assert tally.result() == impact_of(events)
    assert tally.result().finished


def test_a_run_without_any_request_yet_has_nothing_to_tell() -> None:
    tally = ImpactTally()
    tally.add(started())
    tally.add(WindowStarted(window=BEFORE, at=BEGIN))

    assert tally.result().verdict is CANNOT_TELL
    assert tally.result().problems == ()


def test_a_record_that_does_not_say_what_was_injected_is_refused() -> None:
    with pytest.raises(InputError, match="no event that tells which fault"):
        impact_of([])
