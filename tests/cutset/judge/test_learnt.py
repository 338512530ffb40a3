import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.judge.learnt import differences, in_words, narrowed, usual_of
from cutset.model.difference import DifferenceKind
from cutset.model.request import Response

ORDER = {
    "total": 19.99,
    "note": None,
    "items": [{"sku": f"s{number}", "price": number} for number in range(9)],
    "ads": [{"text": "Buy"}],
    "user": {"name": "Ada", "address": {"city": "Paris"}},
}


def answer(value: object, content_type: str = "application/json") -> Response:
    return Response(200, content_type, json.dumps(value).encode() if content_type.endswith("json") else value)  # type: ignore[arg-type]


def told(now: object, *before: object) -> str:
    return in_words(differences(usual_of([answer(each) for each in before or (ORDER, ORDER)]), answer(now)))


def without(key: str) -> dict[str, object]:
    return {name: value for name, value in ORDER.items() if name != key}


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (ORDER, ""),
        (without("user"), "missing user: object"),
        (ORDER | {"user": None}, "missing user: object"),
        (ORDER | {"user": {}}, "missing user: object"),
        (ORDER | {"items": []}, "missing items: 9 elements"),
        (ORDER | {"items": ORDER["items"][:3]}, "wrong: `items` had 9 elements, has 3"),  # type: ignore[index]
        (ORDER | {"items": ORDER["items"] * 2}, "wrong: `items` had 9 elements, has 18"),  # type: ignore[operator]
        (ORDER | {"total": "19.99"}, "wrong: `total` was a number, is a string"),
        (ORDER | {"total": 0}, "wrong: `total` was 19.99, is 0"),
        (ORDER | {"note": "late"}, 'wrong: `note` was null, is "late"'),
        (ORDER | {"ads": "none"}, "wrong: `ads` was an array, is a string"),
        (without("ads") | {"total": 0}, "missing ads: array; wrong: `total` was 19.99, is 0"),
        ([], "missing object"),
        (ORDER | {"user": {"name": "", "address": {"city": "Paris"}}}, "missing user.name: string"),
    ],
)
def test_what_every_answer_had_and_this_one_has_not_is_named_by_path(now: object, words: str) -> None:
    assert told(now) == words


def test_one_of_many_that_lost_its_value_is_told() -> None:
    before = [[{"id": n, "price": n} for n in range(3)], [{"id": n, "price": n + 7} for n in range(3)]]
    assert told([{"id": n, "price": None if n else 5} for n in range(3)], *before) == "missing [].price: number"
    assert told([{"id": n, "price": "x" if n else 5} for n in range(3)], *before) == (
        "wrong: `[].price` was a number, is a string"
    )


def test_what_varied_tells_nothing() -> None:
    before = [
        {"id": 1, "items": [1], "extra": "a", "kind": 1},
        {"id": 2, "items": [1, 2], "kind": "b"},
        {"id": 3, "items": [1, 2, 3], "extra": "c", "kind": None},
    ]
    assert told({"id": 9, "items": [1, 5, 6, 7], "kind": True}, *before) == ""
    assert told({"id": 9, "items": [], "kind": True}, *before) == "missing items: array"


def test_one_more_answer_without_a_fault_narrows_what_is_known() -> None:
    usual = usual_of([answer(ORDER)] * 3)
    other = ORDER | {"total": None, "items": ORDER["items"][:4]}  # type: ignore[index]
    assert in_words(differences(usual, answer(other))) == "missing total: number; wrong: `items` had 9 elements, has 4"
    known = narrowed(usual, answer(other))
    assert in_words(differences(known, answer(ORDER | {"items": ORDER["items"][:5]}))) == ""  # type: ignore[index]
    # A part that was in all answers must be there: an answer without it is trouble, whatever the reason.
    assert in_words(differences(known, answer(other))) == "missing total: number"


def test_of_a_page_fewer_elements_of_a_kind_are_told_and_more_are_not() -> None:
    def page(products: int, notice: str = "") -> Response:
        items = "".join(f'<li class="product">{products}.{n}</li>' for n in range(products))
        return answer(f"<main id=m>{notice}<ul>{items}</ul></main>".encode(), "text/html")

    usual = usual_of([page(9), answer(page(9).body.replace(b"9.", b"8."), "text/html")])
    assert in_words(differences(usual, page(3))) == "wrong: `li.product` had 9 elements, has 3"
    assert in_words(differences(usual, page(9, '<li class="product">Sorry</li>'))) == ""


def test_what_says_that_it_is_json_and_is_not_is_unreadable() -> None:
    (found,) = differences(usual_of([answer(ORDER)]), Response(200, "application/json", b'{"total": 1'))
    assert found.kind is DifferenceKind.UNREADABLE
    assert found.is_wrong
    assert in_words([found]) == "its JSON is malformed"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=15,
)


@given(st.lists(JSON, min_size=1, max_size=4))
def test_no_answer_without_a_fault_is_degraded(documents: list[object]) -> None:
    answers = [answer(each) for each in documents]
    usual = usual_of(answers)
    assert [differences(usual, each) for each in answers] == [[]] * len(answers)


@given(JSON, JSON)
def test_an_answer_that_was_learnt_from_differs_in_parts_alone(before: object, later: object) -> None:
    usual = narrowed(usual_of([answer(before)]), answer(later))
    assert all(each.kind is DifferenceKind.MISSING for each in differences(usual, answer(later)))
