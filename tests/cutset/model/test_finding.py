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


def test_of_cuts_that_degrade_alike_only_the_smallest_is_told() -> None:
    events = [
        finished("BCD", Verdict.DEGRADED, "missing ads"),
        finished("A", Verdict.DEGRADED, "missing ads"),
        finished("BC", Verdict.DEGRADED, "missing reviews"),
    ]

    assert [points_of(each.cut) for each in degradations_of(events)] == [points("A"), points("BC")]
