from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.samples.drill import TEST, drill, operation, sample

from cutset.judge.phases import judge_drill
from cutset.model.drill import DEFAULT_THRESHOLDS, DrillVerdict, Phase, Symptom


def test_a_clean_failure_from_which_the_service_recovers_passes() -> None:
    judged = judge_drill(TEST, drill())

    assert judged.verdict is DrillVerdict.PASSED
    assert [phase.success.count for phase in judged.phases] == [60, 0, 100]
    assert judged.phases[1].fired == 100


def test_a_fault_that_never_fires_leaves_the_drill_unknown() -> None:
    judged = judge_drill(TEST, drill(fault=lambda number: sample(Phase.FAULT, number, operation(verb="SELECT"))))

    assert judged.verdict is DrillVerdict.UNKNOWN
    assert "never fired in 100 requests" in judged.reason


def test_the_agent_says_why_a_fault_did_not_fire() -> None:
    silent = operation(not_fired="timeout: the call site has no timeout")
    judged = judge_drill(TEST, drill(fault=lambda number: sample(Phase.FAULT, number, silent)))

    assert judged.verdict is DrillVerdict.UNKNOWN
    assert judged.reason.endswith("the call site has no timeout")


def test_an_endpoint_that_is_not_called_any_more_leaves_the_drill_unknown() -> None:
    judged = judge_drill(TEST, drill(startup=lambda number: sample(Phase.STARTUP, number), counts=(60, 0, 0)))

    assert judged.verdict is DrillVerdict.UNKNOWN
    assert "did not call db/psycopg/execute" in judged.reason


def test_a_service_that_is_not_healthy_at_the_start_is_not_blamed() -> None:
    judged = judge_drill(
        TEST,
        drill(startup=lambda number: sample(Phase.STARTUP, number, operation(), status=200 if number % 2 else 500)),
    )

    assert judged.verdict is DrillVerdict.UNKNOWN
    assert "not healthy at start-up: 30 of 60" in judged.reason


def test_too_few_requests_at_the_start_tell_nothing() -> None:
    assert judge_drill(TEST, drill(counts=(4, 10, 10))).verdict is DrillVerdict.UNKNOWN


def test_failures_after_the_fault_are_no_recovery() -> None:
    judged = judge_drill(TEST, drill(recovery=lambda number: sample(Phase.RECOVERY, number, operation(), status=503)))

    assert judged.verdict is DrillVerdict.FAILED
    assert [(finding.symptom, finding.level) for finding in judged.findings] == [(Symptom.NO_RECOVERY, "entry")]
    assert judged.findings[0].trace_ids == ("recovery-97", "recovery-98", "recovery-99")


def test_a_quarter_of_the_requests_failing_for_good_is_no_recovery() -> None:
    judged = judge_drill(
        TEST,
        drill(recovery=lambda n: sample(Phase.RECOVERY, n, operation(verb="SELECT"), status=200 if n % 4 else 503)),
    )

    assert judged.verdict is DrillVerdict.FAILED


def test_a_service_that_needs_two_seconds_to_recover_has_recovered() -> None:
    judged = judge_drill(
        TEST,
        drill(recovery=lambda n: sample(Phase.RECOVERY, n, operation(verb="SELECT"), status=200 if n >= 40 else 503)),
    )

    assert judged.verdict is DrillVerdict.PASSED


def test_a_handful_of_requests_after_the_fault_cannot_tell() -> None:
    judged = judge_drill(TEST, drill(counts=(60, 100, 8)))

    assert judged.verdict is DrillVerdict.UNKNOWN
    assert "too few requests after the fault" in judged.reason


def test_answers_that_stay_slow_are_no_recovery() -> None:
    judged = judge_drill(
        TEST, drill(recovery=lambda n: sample(Phase.RECOVERY, n, operation(verb="SELECT"), seconds=1.5))
    )

    assert judged.verdict is DrillVerdict.FAILED
    assert "answers still take 1.50 s" in judged.reason


def test_answers_that_are_a_little_slower_are_a_recovery() -> None:
    judged = judge_drill(
        TEST, drill(recovery=lambda n: sample(Phase.RECOVERY, n, operation(verb="SELECT"), seconds=0.1))
    )

    assert judged.verdict is DrillVerdict.PASSED


def test_a_consumer_that_stopped_behind_good_answers_is_no_recovery() -> None:
    def runs(phase: Phase, *, handled: bool):
        handle = (operation("mq/nats/handle"),) if handled else ()
        return lambda number: sample(phase, number, operation(verb="SELECT"), *handle)

    stopped = drill(startup=runs(Phase.STARTUP, handled=True), recovery=runs(Phase.RECOVERY, handled=False))
    goes_on = drill(startup=runs(Phase.STARTUP, handled=True), recovery=runs(Phase.RECOVERY, handled=True))

    assert [finding.level for finding in judge_drill(TEST, stopped).findings] == ["mq/nats/handle"]
    assert judge_drill(TEST, goes_on).verdict is DrillVerdict.PASSED


def test_a_cache_that_was_filled_at_the_start_only_is_not_missed_later() -> None:
    def startup(number: int):
        fill = (operation("cache/redis/set"),) if number < 6 else ()
        return sample(Phase.STARTUP, number, operation(verb="SELECT"), *fill)

    assert judge_drill(TEST, drill(startup=startup)).verdict is DrillVerdict.PASSED


def test_calls_that_go_on_failing_behind_a_fallback_are_no_recovery() -> None:
    judged = judge_drill(
        TEST, drill(recovery=lambda number: sample(Phase.RECOVERY, number, operation(failed=True, verb="SELECT")))
    )

    assert judged.verdict is DrillVerdict.FAILED
    assert {finding.level for finding in judged.findings} == {"db/psycopg/execute"}


def test_thresholds_of_the_user_count() -> None:
    lenient = replace(DEFAULT_THRESHOLDS, recovery_success=0.5)
    samples = drill(
        recovery=lambda n: sample(Phase.RECOVERY, n, operation(verb="SELECT"), status=200 if n % 4 else 503)
    )

    assert judge_drill(TEST, samples, lenient).verdict is DrillVerdict.PASSED


@settings(deadline=None)
@given(st.integers(0, 100))
def test_more_good_answers_after_the_fault_never_make_it_worse(good: int) -> None:
    rank = {DrillVerdict.FAILED: 0, DrillVerdict.UNKNOWN: 1, DrillVerdict.PASSED: 2}

    def verdict(number_good: int) -> int:
        recovery = lambda n: sample(  # noqa: E731
            Phase.RECOVERY, n, operation(verb="SELECT"), status=200 if n * 37 % 100 < number_good else 503
        )
        return rank[judge_drill(TEST, drill(recovery=recovery, counts=(20, 10, 100))).verdict]

    assert verdict(good) <= verdict(min(100, good + 10))
