from cutset.model.call_tree import CallTree
from cutset.model.point import Point
from cutset.model.survey import ClassSummary, Representative, Survey

PAGE = CallTree(Point("web", "page"))
FAILED = CallTree(Point("web", "page"), failed=True)
CALLING = CallTree(Point("web", "page"), calls=(CallTree(Point("cart", "Get"), failed=True),))
FIRST = Representative(1.0, "1")


def test_failed_requests_are_those_whose_own_answer_failed() -> None:
    summary = ClassSummary("GET /", "web", FIRST, {PAGE: 2, FAILED: 2, CALLING: 2}, {FAILED: 1})

    assert (summary.traces, summary.failed) == (7, 3)


def test_conclusions_are_drawn_from_whole_traces_if_there_are_any() -> None:
    torn = ClassSummary("GET /", "web", FIRST, torn={PAGE: 3})
    whole = ClassSummary("GET /", "web", FIRST, {PAGE: 1}, {CALLING: 3})

    assert (torn.judged, whole.judged) == ({PAGE: 3}, {PAGE: 1})
    assert (torn.traces, whole.traces) == (3, 4)


def test_kinds_of_all_classes_are_counted_together() -> None:
    survey = Survey({"a": ClassSummary("a", "web", FIRST, {PAGE: 1}), "b": ClassSummary("b", "web", FIRST, {PAGE: 2})})

    assert survey.kinds == {PAGE: 3}
    assert survey.traces == 3
