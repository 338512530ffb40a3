from collections import Counter

from cutset.report.traffic.replay import to_document, to_lines
from cutset.workload.replay import ReplayTally

NAIVE = {"GET /": ReplayTally(2, 2), "POST /orders": ReplayTally(2, 0, Counter({"was answered 409 instead of 201": 2}))}
TEMPLATED = {"GET /": ReplayTally(2, 2), "POST /orders": ReplayTally(2, 1, Counter({"no answer: X": 1}))}


def test_both_ways_stand_side_by_side_with_the_reasons() -> None:
    assert list(to_lines({"naive": NAIVE, "templated": TEMPLATED})) == [
        "[bold]request       naive: as recorded  templated: as recorded  because[/]",
        "GET /         2 of 2 (100.0%)     2 of 2 (100.0%)         ",
        "POST /orders  0 of 2 (0.0%)       1 of 2 (50.0%)          naive: was answered 409 instead of 201 (2)",
        "                                                          templated: no answer: X (1)",
        "all           2 of 4 (50.0%)      3 of 4 (75.0%)          ",
    ]


def test_one_way_alone_is_not_named_in_the_reasons() -> None:
    assert "  no answer: X (1)" in list(to_lines({"templated": TEMPLATED}))[2]


def test_the_document_has_the_sums_and_every_class() -> None:
    assert to_document({"templated": TEMPLATED}) == {
        "templated": {
            "tried": 4,
            "succeeded": 3,
            "classes": {
                "GET /": {"tried": 2, "succeeded": 2, "failures": {}},
                "POST /orders": {"tried": 2, "succeeded": 1, "failures": {"no answer: X": 1}},
            },
        }
    }
