import json

import pytest

from cutset.errors import UsageError
from cutset.judge.expectations import unmet_expectations
from cutset.model.request import Expectation, OracleFunction, Response

ANSWER = Response(
    200,
    "application/json",
    json.dumps({"order": {"total": 19.99}, "message": "Thank  you"}).encode(),
    headers=(("X-Cache", "HIT"), ("Vary", "a"), ("vary", "b")),
)


def problems(response: Response = ANSWER, **expect: object) -> list[str]:
    return list(unmet_expectations(response, Expectation(**expect)))  # type: ignore[arg-type]


def oracle(check: object) -> OracleFunction:
    return OracleFunction("tests/oracle.py:is_good", check=check)  # type: ignore[arg-type]


def test_an_answer_that_has_all_that_was_asked_for_is_fine() -> None:
    assert (
        problems(
            text=("Thank you",),
            matches=("(?i)thank you", r"\b19\.\d\d\b"),
            header={"x-cache": "HIT", "vary": "a, b", "x-error": {"present": False}},
            json={"order.total": {"at_least": 1}},
            function=oracle(lambda response: None if response.json()["order"] else "no order"),
        )
        == []
    )


def test_all_that_is_not_as_asked_for_is_told() -> None:
    assert problems(
        text=("Sorry",),
        matches=("^Sorry$",),
        header={"x-cache": "MISS"},
        json={"order.total": 5},
        function=oracle(lambda response: f"total is {response.json()['order']['total']}"),
    ) == [
        "does not say `Sorry`",
        "says nothing like `^Sorry$`",
        'the header `x-cache` is "HIT", not "MISS"',
        "`order.total` is 19.99, not 5",
        "total is 19.99",
    ]


def test_what_is_no_json_has_no_value() -> None:
    assert problems(Response(200, "text/html", b"<p>"), json={"a": 1, "b": {"present": False}}) == [
        "`a` is missing, not 1"
    ]


@pytest.mark.parametrize("said", [None, True, ""])
def test_a_function_that_says_nothing_or_yes_finds_the_answer_good(said: object) -> None:
    assert problems(function=oracle(lambda _: said)) == []


def test_a_function_that_says_no_finds_it_bad() -> None:
    assert problems(function=oracle(lambda _: False)) == ["`tests/oracle.py:is_good` says that it is not good"]


def test_an_assertion_that_does_not_hold_is_what_the_function_says() -> None:
    def explained(response: Response) -> None:
        assert response.status == 201, "was not created"

    def bare(_: Response) -> None:
        raise AssertionError

    assert problems(function=oracle(explained)) == ["was not created"]
    assert problems(function=oracle(bare)) == ["`raise AssertionError` does not hold"]


def test_an_error_in_the_function_is_no_verdict() -> None:
    def broken(response: Response) -> object:
        return response.json()["items"]

    with pytest.raises(UsageError, match=r"test_expectations.py`, line \d+: KeyError: 'items', in `tests/oracle"):
        problems(function=oracle(broken))


def test_a_function_that_returns_something_else_is_an_error() -> None:
    async def later(_: Response) -> None: ...

    with pytest.raises(UsageError, match="must not be `async`"):
        problems(function=oracle(later))
    with pytest.raises(UsageError, match="returned 17"):
        problems(function=oracle(lambda _: 17))
