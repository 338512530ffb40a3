import json

import pytest

from cutset.judge.graphql import graphql_error
from cutset.judge.rules import Baseline, baseline_of, judge
from cutset.model.outcome import Verdict
from cutset.model.request import Expectation, Response


def answer(value: object) -> Response:
    return Response(200, "application/json", json.dumps(value).encode())


FAILED = answer({"data": {"cart": None}, "errors": [{"message": "cart did not respond", "path": ["cart"]}]})


def test_the_first_error_is_what_it_says() -> None:
    assert graphql_error(FAILED) == "cart did not respond"


@pytest.mark.parametrize(
    "value",
    [
        {"data": {}},
        {"errors": []},
        {"errors": "no"},
        {"errors": ["a"], "total": 5},
        ["errors"],
        {"data": {"errors": [1]}},
    ],
)
def test_what_is_no_error_of_graphql_is_none(value: object) -> None:
    assert graphql_error(answer(value)) == ""


def test_a_200_with_errors_has_failed_unless_it_always_has_some() -> None:
    fine = baseline_of([answer({"data": {"cart": {"items": 1}}})], Expectation())
    usual = baseline_of([FAILED], Expectation())
    assert isinstance(fine, Baseline)
    assert isinstance(usual, Baseline)
    judged = judge(FAILED, Expectation(), fine)
    assert (judged.verdict, judged.reason) == (Verdict.FAILED, "200, but its `errors` say `cart did not respond`")
    assert judge(FAILED, Expectation(), usual).verdict is Verdict.SURVIVED
