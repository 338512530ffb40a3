import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.judge.shape import CONTENT, JSON_LIMIT, MALFORMED, NODE_LIMIT, PATH_LIMIT, shape_of, visible_text

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def shape_of_json(value: object) -> frozenset[str]:
    return shape_of(JSON, json.dumps(value).encode())


def test_json_is_described_by_key_paths_and_kinds():
    answer = {"order": {"items": [{"id": "A", "price": 1.5}], "paid": True}, "note": "x"}
    assert shape_of_json(answer) == {
        "object",
        "order: object",
        "order.items: array",
        "order.items[]: object",
        "order.items[].id: string",
        "order.items[].price: number",
        "order.paid: boolean",
        "note: string",
    }


@pytest.mark.parametrize(
    ("filled", "hollow", "lost"),
    [
        ({"ads": [1]}, {"ads": []}, {"ads: array", "ads[]: number"}),
        ({"ad": "x"}, {"ad": None}, {"ad: string"}),
        ({"ad": "x"}, {"ad": ""}, {"ad: string"}),
        ({"ad": {"url": "x"}}, {"ad": {}}, {"ad: object", "ad.url: string"}),
        ([1], [], {"array", "[]: number"}),
        ({"a": [[1]]}, {"a": [[]]}, {"a[]: array", "a[][]: number"}),
    ],
)
def test_an_empty_value_differs_from_a_filled_one(filled, hollow, lost):
    assert shape_of_json(filled) - shape_of_json(hollow) == lost


def test_entries_of_an_array_share_one_path():
    assert shape_of_json([{"a": 1}, {"b": 2}]) == {"array", "[]: object", "[].a: number", "[].b: number"}


@pytest.mark.parametrize(
    "body", [b"{", b"oops", b'{"a": \xff}', b"[" * 200_000, b"9" * 5000], ids=lambda body: repr(body[:8])
)
def test_malformed_json_has_a_shape_of_its_own(body):
    assert shape_of(JSON, body) == {MALFORMED}


@pytest.mark.parametrize("content_type", [JSON, HTML, "text/plain", ""])
def test_an_empty_body_has_no_parts(content_type):
    assert shape_of(content_type, b" \n") == frozenset()


@pytest.mark.parametrize("content_type", ["text/plain", "image/png", ""])
def test_other_content_is_there_or_not(content_type):
    assert shape_of(content_type, b"hello") == {CONTENT}


def test_a_json_document_beyond_the_limit_only_counts_as_content():
    assert shape_of(JSON, b'"' + b"x" * JSON_LIMIT + b'"') == {CONTENT}


def test_work_on_a_wide_json_document_is_bounded():
    assert len(shape_of_json({str(number): number for number in range(NODE_LIMIT * 2)})) == NODE_LIMIT


def test_work_on_a_deep_json_document_is_bounded():
    deep = 1
    for _ in range(500):
        deep = {"k" * 50: deep}
    assert max(len(part) for part in shape_of_json(deep)) < PATH_LIMIT + 100


@given(JSON_VALUES)
def test_every_json_value_has_a_good_shape(value):
    assert shape_of_json(value)
    assert MALFORMED not in shape_of_json(value)


def test_html_is_described_by_ids_and_classes():
    page = b"""<!doctype html><html><body>
      <section id="ads" class='box wide'><a href="/?class=no" title="a > b" class=ad>Buy &amp; go</a></section>
      <!-- <div id="commented"> --><script id="code">document.write('<p id="scripted">')</script>
      <DIV ID=Footer></DIV></body></html>"""
    assert shape_of(HTML, page) == {"section#ads", "section.box", "section.wide", "a.ad", "div#Footer", CONTENT}


def test_a_page_without_text_lacks_content():
    assert shape_of(HTML, b"<html><body>\n<div id=root></div></body></html>") == {"div#root"}


@pytest.mark.parametrize(
    "page",
    ["<", "<p id='x", '<p class="', "<!-- ", "<script>", "</", "<p id", "<p =", "<a b='<a b=\"", "<p id=x <p id=y>"],
)
def test_malformed_html_does_not_raise_and_takes_linear_time(page):
    # Quadratic time on half a megabyte would be minutes: the test would hang, not merely slow down.
    body = page.encode() * (1_000_000 // len(page))
    assert isinstance(shape_of(HTML, body), frozenset)
    assert isinstance(visible_text(HTML, body), str)


@given(st.text(alphabet="<>/!-=\"' abidclassscript\n"))
def test_any_html_has_a_shape_and_a_text(page):
    assert isinstance(shape_of(HTML, page.encode()), frozenset)
    assert "<script>" not in visible_text(HTML, page.encode()).lower()


def test_visible_text_leaves_out_scripts_styles_and_attributes():
    page = (
        b"<style>.error{}</style><script>error()</script><p class=error title='error'>Tom &amp; Jerry</p><!-- error -->"
    )
    assert visible_text(HTML, page).split() == ["Tom", "&", "Jerry"]


def test_visible_text_of_text_is_all_of_it_and_of_images_nothing():
    assert visible_text("text/plain", b"caf\xc3\xa9 \xff") == "café \ufffd"
    assert visible_text("", b"plain") == "plain"
    assert visible_text(JSON, b'{"error": 1}') == '{"error": 1}'
    assert visible_text("application/xml", b"<error>gone</error>").strip() == "gone"
    assert visible_text("image/png", b"error") == ""
