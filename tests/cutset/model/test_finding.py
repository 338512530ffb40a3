from dataclasses import replace
from itertools import combinations

from cutset.model.event import ExperimentFinished
from cutset.model.fault import cut_of, points_of
from cutset.model.finding import degradations_of, findings_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point


def points(apis: str) -> Points:
    return frozenset(Point("shop", api) for api in apis)


def finished(apis: str, verdict: Verdict, reason: str = "") -> ExperimentFinished:
    return ExperimentFinished(request="GET /", outcome=Outcome(cut_of(points(apis)), verdict, reason), left=0)


def test_only_minimal_cuts_are_findings() -> None:
    events = [finished("AB", Verdict.FAILED), finished("A", Verdict.FAILED), finished("CD", Verdict.FAILED)]

    assert [points_of(each.cut) for each in findings_of(events)] == [points("A"), points("CD")]


def test_what_was_tried_several_times_is_one_finding_by_the_most_trials() -> None:
    few, many = (
        replace(each, outcome=replace(each.outcome, trials=trials))
        for each, trials in ((finished("A", Verdict.FAILED), 2), (finished("A", Verdict.FAILED), 30))
    )

    for events in ([few, many], [many, few]):
        assert [each.outcome.trials for each in findings_of(events)] == [30]


def test_each_minimal_cut_that_changes_the_answer_is_told_whatever_others_take_away() -> None:
    events = [
        finished("BCD", Verdict.DEGRADED, "missing ads"),
        finished("A", Verdict.DEGRADED, "missing ads"),
        finished("E", Verdict.DEGRADED, "missing ads"),
        finished("AE", Verdict.DEGRADED, "missing ads"),
        finished("BC", Verdict.DEGRADED, "missing ads"),
    ]

    assert [points_of(each.cut) for each in degradations_of(events)] == [points("A"), points("E"), points("BC")]


def test_what_is_answered_in_part_although_a_part_of_it_fails_is_no_degradation() -> None:
    events = [finished("A", Verdict.FAILED), finished("AB", Verdict.DEGRADED), finished("B", Verdict.DEGRADED)]

    assert [points_of(each.cut) for each in degradations_of(events)] == [points("B")]


def test_a_brute_force_of_all_sets_finds_the_same_degradations() -> None:
    """Of a page with three optional calls and one that is needed."""
    missing = {"A": "ads", "B": "ads", "C": ""}
    events = []
    for size in range(1, 5):
        for chosen in map("".join, combinations("ABCN", size)):
            lost = {missing[call] for call in chosen if call in missing} - {""}
            verdict = Verdict.FAILED if "N" in chosen else Verdict.DEGRADED if lost else Verdict.SURVIVED
            events.append(finished(chosen, verdict, str(lost)))

    assert [points_of(each.cut) for each in degradations_of(reversed(events))] == [points("A"), points("B")]
