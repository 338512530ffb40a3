from tests.samples.trace_builder import ROOT, Made, trace

from cutset.lineage.culprits import culprits_of
from cutset.model.point import Point


def test_where_nothing_failed_nobody_is_to_blame() -> None:
    assert culprits_of(trace(Made("a/A", [Made("b/B")], failed_attempts=1)), ROOT) == frozenset()


def test_of_calls_that_failed_one_inside_the_other_the_innermost_is_to_blame() -> None:
    spans = trace(Made("a/A", [Made("b/B", [Made("c/C", status=13)], status=13), Made("d/D")], status=13))

    assert culprits_of(spans, ROOT) == {Point("c", "C")}


def test_what_was_injected_and_what_it_brought_about_is_nobodys_own_failure() -> None:
    spans = trace(Made("a/A", [Made("b/B", status=14, flags="FI")], status=13), Made("c/C", status=13))

    assert culprits_of(spans, ROOT) == {Point("c", "C")}
