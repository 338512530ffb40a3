import pytest

from cutset.model.request import Response
from cutset.workload.taking import is_place, taken

ANSWER = Response(
    200,
    "application/json",
    b'{"order": {"id": 42, "tags": ["new", {"k": true}], "none": null}, "html": "csrf=ab12;"}',
    headers=(("x-Token", "t0k"),),
)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("json.order.id", "42"),
        ("json.order.tags[0]", "new"),
        ("json.order.tags[1].k", "true"),
        ("json.order.tags[1]", '{"k": true}'),
        ("header.X-Token", "t0k"),
        ("cookie.sid", "c1"),
        (r"regex csrf=(\w+)", "ab12"),
        (r"regex csrf=\w+", "csrf=ab12"),
        ("json.order.none", None),
        ("json.order.tags[7]", None),
        ("json.order.id.more", None),
        ("header.other", None),
        ("cookie.other", None),
        ("regex nothing(.)", None),
    ],
)
def test_a_value_is_found_by_its_place_or_it_is_told_that_it_is_not_there(place, value):
    assert is_place(place)
    assert taken(place, ANSWER, {"sid": "c1"}) == value


def test_a_list_is_an_answer_too_and_what_is_no_json_has_no_values():
    assert taken("json[1].id", Response(200, body=b'[0, {"id": "x"}]'), {}) == "x"
    assert taken("json.id", Response(200, body=b"<html>"), {}) is None


@pytest.mark.parametrize("text", ["order.id", "json.", "json.a..b", "header.", "body", "regexx", "json.a[x]"])
def test_what_is_no_place_is_told(text):
    assert not is_place(text)


def test_an_expression_that_cannot_be_read_is_told():
    with pytest.raises(ValueError, match="unterminated"):
        is_place("regex (")
