from dataclasses import replace

from tests.samples.surveyed_shop import CACHE, HOME_PAGE, surveyed_shop

from cutset.model.call_tree import CallTree
from cutset.model.point import Point
from cutset.report.survey.request_class import call_rows, to_document, to_lines
from cutset.select.complexity import DEFAULT_WEIGHTS

CART, HOME = (surveyed_shop().classes[name] for name in ("GET /cart", "GET /"))


def test_a_class_is_shown_with_its_calls_and_when_they_are_made() -> None:
    assert list(to_lines("GET /cart", CART)) == [
        "[bold]GET /cart[/]  20 traces, 0 failed",
        "[dim]most complex trace  5a[/]",
        "",
        "[bold] traces      95 %  per trace  failed  tolerated  made           call[/]",
        " 20.0 %    8–42 %        1.0                     after failure  web>cart/GetCart  when failed: redis/GET",
        "100.0 %  84–100 %        1.0       4          4  always         web>redis/GET",
        "\n2 kinds of execution, by traces:",
        "  1.  16 × 1 call: web>redis/GET",
        "  2.   4 × 2 calls: as 1, with web>cart/GetCart, but web>redis/GET fails",
    ]


def test_what_several_apis_of_a_service_call_is_told_with_the_api() -> None:
    read, listed = (CallTree(Point("cart", api), calls=(CACHE,)) for api in ("Read", "List"))
    page = CallTree(Point("web", "GET /cart"), calls=(read, listed))
    calls = [row[-1] for row in call_rows(replace(CART, kinds={page: 5}))]
    assert calls == [
        "cart>redis/GET  to answer List",
        "cart>redis/GET  to answer Read",
        "web>cart/List",
        "web>cart/Read",
    ]


def test_a_call_whose_caller_is_lost_has_none() -> None:
    page = CallTree(Point("web", "GET /cart"), orphans=(CallTree(Point("stock", "Reserve"), calls=(CACHE,)),))
    summary = replace(CART, kinds={page: 5})
    assert [row[-1] for row in call_rows(summary)] == ["stock/Reserve  by an unknown caller", "stock>redis/GET"]
    document = to_document("GET /cart", summary, 5, DEFAULT_WEIGHTS)
    assert [call["caller"] for call in document["calls"]] == ["", "stock/Reserve"]
    assert document["executions"][0]["orphans"][0]["call"] == "stock/Reserve"


def test_traces_with_missing_spans_are_told_of() -> None:
    assert "[dim]1 trace of which spans are missing, not used here[/]" in list(to_lines("GET /", HOME))
    torn_only = replace(HOME, kinds={}, torn={HOME_PAGE: 3})
    (line,) = (line for line in to_lines("GET /", torn_only) if "missing" in line)
    assert line == "[dim]3 traces of which spans are missing, and no trace is whole: take this with care[/]"


def test_the_document_has_every_call_and_every_execution() -> None:
    document = to_document("GET /cart", CART, 30, DEFAULT_WEIGHTS)
    assert document["traces"] == 20
    assert [(call["callee"], call["when"], call["instead_of"]) for call in document["calls"]] == [
        ("cart/GetCart", "after-failure", ["redis/GET"]),
        ("redis/GET", "always", []),
    ]
    assert document["executions"][0] == {
        "traces": 16,
        "tree": {
            "call": "web/GET /cart",
            "failed": False,
            "calls": [{"call": "redis/GET", "failed": False, "calls": []}],
        },
        "orphans": [],
    }
    assert [execution["traces"] for execution in document["executions"]] == [16, 4]
