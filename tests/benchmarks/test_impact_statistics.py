from benchmarks.impact.statistics import HARMED, QUIET, false_alarms, interval_coverage, truth
from tests.samples.simulated_impact import Traffic, impact_events

from cutset.judge.impact import impact_of


def test_the_stated_truth_is_what_very_many_requests_show() -> None:
    for shop, _ in HARMED:
        traffic = Traffic(seconds=(0, 100, 0), marked=200)
        entry = impact_of(impact_events(shop, traffic)).apis[0]

        assert abs(entry.difference - truth(shop, traffic)) < 0.015


def test_runs_without_an_effect_have_none() -> None:
    assert all(truth(shop, traffic) == 0 for shop, traffic in QUIET)


def test_one_run_of_each_kind_is_counted() -> None:
    assert false_alarms(len(QUIET), 1) == {"aa_simulated_runs": len(QUIET), "aa_simulated_alarms": 0}
    assert interval_coverage(2, 1) == {"interval_coverage": 1.0, "all_looks_coverage": 1.0, "at_end_coverage": 1.0}
