"""Real but tiny runs of `make bench-impact`: they end, tell what they promise, and hurt nobody without a mark."""

from benchmarks.impact import everybody, planted, without_fault


def test_verdicts_are_never_the_opposite_of_the_key_and_nobody_without_a_fault_fails():
    figures = planted.measure(quick=True)

    assert figures.keys() >= {"planted", "planted_cases", "verdicts", "verdicts_right", "verdicts_open"}
    assert figures["verdicts_right"] + figures["verdicts_open"] == figures["verdicts"] > 0
    assert (figures["unmarked_failed"], figures["control_failed"]) == (0, 0)
    assert figures["user_requests"] > 0


def test_runs_without_a_fault_are_judged_and_alarm_nobody():
    figures = without_fault.measure(quick=True)

    assert figures["aa_runs"] == 3
    assert figures["aa_false_alarms"] == 0
    assert figures["aa_verdicts"] > 0


def test_what_happens_to_everybody_is_not_blamed_on_the_fault():
    figures = everybody.measure(quick=True)

    assert figures["control_equals"] == [1, 1]
