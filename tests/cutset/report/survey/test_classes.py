from dataclasses import replace

from tests.samples.surveyed_shop import CACHE, surveyed_shop

from cutset.model.call_tree import UNKNOWN, CallTree
from cutset.model.point import Point
from cutset.model.survey import Survey
from cutset.report.survey.classes import lost_in_words, to_document, to_lines
from cutset.select.complexity import DEFAULT_WEIGHTS, Weights


def test_classes_are_listed_the_most_complex_first() -> None:
    assert list(to_lines(surveyed_shop(), DEFAULT_WEIGHTS, 5)) == [
        "[bold]complexity  traces   share     95 %  failed  kinds  spans  parts   ms  request class[/]",
        "      13.5      20  66.7 %  49–81 %       –      2    2.4    2.2  5.0  GET /cart",
        "       6.0      10  33.3 %  19–51 %  10.0 %      1    1.0    1.0  1.0  GET /",
        (
            "\n[dim]2 request classes in 30 traces of 58 spans. "
            "Spans, parts (services, stores, queues) and ms are means.[/]"
        ),
        "[dim]2 more traces without a beginning: spans are missing, so the class is unknown.[/]",
    ]


def test_what_lost_spans_leave_unknown_is_told_and_what_was_concluded() -> None:
    lost = CallTree(Point("web", "GET /"), orphans=(CACHE, CallTree(Point("audit", UNKNOWN))))
    home = replace(surveyed_shop().classes["GET /"], kinds={lost: 6})
    survey = surveyed_shop(classes={"GET /": home}, headless=0, joined=2)
    assert list(lost_in_words(survey)) == [
        "6 calls by unknown callers: their spans are missing.",
        "2 spans without a parent: names, times and peers tell what they are part of.",
    ]
    document = to_document(survey, DEFAULT_WEIGHTS)
    assert (document["by_unknown_callers"], document["joined"]) == (6, 2)


def test_only_so_many_are_shown_but_all_are_counted() -> None:
    lines = list(to_lines(surveyed_shop(headless=0), DEFAULT_WEIGHTS, 1))
    assert len(lines) == 3
    assert lines[-1].startswith("\n[dim]2 request classes in 30 traces")


def test_who_only_has_names_of_spans_is_told_of_a_finer_distinction() -> None:
    cart = replace(surveyed_shop().classes["GET /cart"], named_by_span=True)
    assert "`--by-calls`" in list(to_lines(Survey({"any": cart}), DEFAULT_WEIGHTS, 5))[-1]


def test_the_document_has_all_classes_and_follows_the_weights() -> None:
    document = to_document(surveyed_shop(), Weights(1, 0, 0))
    assert {key: document[key] for key in ("traces", "spans", "headless")} == {"traces": 30, "spans": 58, "headless": 2}
    cart, home = document["classes"]
    assert (home["name"], home["torn"], home["failed"]) == ("GET /", 1, 1)
    assert (round(cart.pop("share_low"), 2), round(cart.pop("share_high"), 2)) == (0.49, 0.81)
    assert cart == {
        "name": "GET /cart",
        "complexity": 2.4,
        "traces": 20,
        "share": 20 / 30,
        "anecdote": False,
        "failed": 0,
        "torn": 0,
        "kinds": 2,
        "mean_spans": 2.4,
        "mean_components": 2.2,
        "mean_ms": 5.0,
        "representative": {"trace_id": "5a", "complexity": 34.0},
    }
