import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.judge.values import changed_places, leaves, values_of

JSON, HTML = "application/json", "text/html; charset=utf-8"

documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
)


def test_leaves_are_named_by_their_paths_and_elements_of_a_list_share_one() -> None:
    body = json.dumps({"order": {"total": 19.99, "note": None}, "tags": ["a", "b"], "ok": True}).encode()

    assert dict(Counter(leaves(body))) == {
        ("order.total", "19.99"): 1,
        ("order.note", "null"): 1,
        ("tags[]", '"a"'): 1,
        ("tags[]", '"b"'): 1,
        ("ok", "true"): 1,
    }


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_has_no_values(body: bytes) -> None:
    assert values_of(JSON, body) == Counter()


def test_texts_of_a_page_are_named_by_the_last_tag_with_a_name() -> None:
    body = b'<title>Shop</title><p id=total>Total: <b>$5</b></p><script>var x</script><ul class="a b"><li>tea &amp; co'

    assert values_of(HTML, body) == Counter(
        {("content", "Shop"): 1, ("p#total", "Total:"): 1, ("p#total", "$5"): 1, ("ul.a", "tea & co"): 1}
    )


def test_lines_of_a_text_are_its_values_and_images_have_none() -> None:
    assert values_of("text/plain", b"a  b\n\nc\n") == Counter({("content", "a b"): 1, ("content", "c"): 1})
    assert values_of("image/png", b"\x89PNG") == Counter()


@given(documents)
def test_an_answer_does_not_differ_from_itself(document: object) -> None:
    body = json.dumps(document).encode()

    assert changed_places(values_of(JSON, body), JSON, body) == []


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(), min_size=1), st.data())
def test_each_value_that_is_another_is_told(document: dict[str, int], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(document)))
    other = json.dumps(document | {key: document[key] + 1}).encode()

    told = changed_places(values_of(JSON, json.dumps(document).encode()), JSON, other)

    assert told == [(key, str(document[key]), str(document[key] + 1))]


def test_a_text_that_only_moved_is_not_missing() -> None:
    before, after = b"<h1 id=a>Hello</h1><p>Total</p>", b'<h1 id=a>Hello</h1><i class="note">!</i><p>Total</p>'

    assert changed_places(values_of(HTML, before), HTML, after) == []


def test_long_lists_of_changes_are_cut_short() -> None:
    body = json.dumps({"n": list(range(9))}).encode()

    assert changed_places(values_of(JSON, body), JSON, b'{"n": []}') == [("n[]", "0, 1, 2 and 6 more", "gone")]
