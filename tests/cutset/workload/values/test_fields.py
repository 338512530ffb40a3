import json
import string
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.workload.values.fields import Message, fields, inflated, rewrite

JSON = (("Content-Type", "application/json"),)
FORM = (("content-type", "application/x-www-form-urlencoded"),)
HTML = (("content-type", "text/html; charset=utf-8"),)


def test_every_part_of_a_request_has_its_place() -> None:
    message = Message(
        path="/orders/ord-17?page=2&tag=a&tag=b%20c",
        headers=(*JSON, ("Authorization", "Bearer abc"), ("Cookie", "sid=1; lang=en")),
        body=b'{"items": [{"sku": "x/y"}], "n": 3, "a/b": "c", "ok": true}',
    )
    assert fields(message) == {
        "path/1": "orders",
        "path/2": "ord-17",
        "query/page": "2",
        "query/tag": "a",
        "query/tag#2": "b c",
        "header/content-type": "application/json",
        "header/authorization:1": "Bearer",
        "header/authorization:2": "abc",
        "cookie/sid": "1",
        "cookie/lang": "en",
        "body/items/0/sku": "x/y",
        "body/n": "3",
        "body/a~1b": "c",
    }


def test_every_part_of_an_answer_has_its_place() -> None:
    page = b"""<meta name='csrf-token' content="m1"><form action="/orders/ord-17/pay">
               <input type=hidden name=csrf value="a&amp;b"><input name="empty"></form><a href="/help">?</a>"""
    headers = (
        *HTML,
        ("Location", "/orders/ord-17"),
        ("Set-Cookie", "sid=7; Path=/"),
        ("Date", "Mon, 16 Nov 2026 06:33:15 GMT"),
    )
    found = fields(Message(headers, page))
    assert found["input/csrf-token"] == "m1"
    assert found["input/csrf"] == "a&b"
    assert found["link/orders/*/pay:3"] == "ord-17"
    assert found["header/location:3"] == "ord-17"
    assert found["cookie/sid"] == "7"
    assert found["header/date"] == "Mon, 16 Nov 2026 06:33:15 GMT"


def upper(_: str, value: str) -> str:
    return value.upper()


@pytest.mark.parametrize(
    ("headers", "body", "changed"),
    [
        (JSON, b'{"a": ["x", 1, 1.5, null, true]}', b'{"a":["X",1,1.5,null,true]}'),
        (FORM, b"a=x+y&b=%C3%A4&c", b"a=X+Y&b=%C3%84&c"),
        (HTML, b"<p>x</p><input name=a value=x>", b'<p>x</p><input name=a value="X">'),
        ((("content-type", "text/plain"),), b"two words", b"TWO WORDS"),
        ((), b'{"a":"x"}', b'{"a":"X"}'),
        ((("content-type", "image/png"),), b"\x89png", b"\x89png"),
        (JSON, b'{"a": "cut sho', b'{"a": "cut sho'),
    ],
)
def test_bodies_are_rewritten_in_their_own_syntax(
    headers: tuple[tuple[str, str], ...], body: bytes, changed: bytes
) -> None:
    assert rewrite(Message(headers, body), upper).body == changed


def test_paths_and_cookies_are_rewritten_and_quoted() -> None:
    message = Message((("Cookie", "a=1; b=2"),), b"", "/a/b%20c?q=d%26e")
    changes = {"path/2": "x/y", "query/q": "&", "cookie/a": "", "cookie/b": "3"}
    new = rewrite(message, changes.get)
    assert new.path == "/a/x%2Fy?q=%26"
    assert new.headers == (("Cookie", "b=3"),)


def test_a_number_stays_a_number_if_its_new_value_is_one() -> None:
    message = Message(JSON, b'{"id":17,"at":1.5}')
    assert json.loads(rewrite(message, lambda *_: "99").body) == {"id": 99, "at": 99.0}
    assert json.loads(rewrite(message, lambda *_: "masked-1").body) == {"id": "masked-1", "at": "masked-1"}


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)
documents = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
words = st.text(string.ascii_letters + string.digits + "äß &=/?%+;,", max_size=10)


@given(documents, st.lists(st.tuples(words, words), max_size=3))
def test_what_is_not_changed_stays_as_it_is(document: object, headers: list[tuple[str, str]]) -> None:
    message = Message((*JSON, *headers), json.dumps(document, indent=1).encode(), "/a%2Fb/c?x=%zz&&y=1+2")
    assert rewrite(message, lambda _, value: value) == message


@given(documents)
def test_what_is_written_to_a_place_is_read_from_it(document: object) -> None:
    message = Message(JSON, json.dumps(document).encode())
    places = fields(message)
    wanted = {place: f"v{number}" for number, place in enumerate(places) if place != "header/content-type"}
    new = rewrite(message, wanted.get)
    assert fields(new) == {"header/content-type": "application/json", **wanted}


def test_deep_json_is_left_alone() -> None:
    body = b"[" * 100_000 + b"]" * 100_000
    assert rewrite(Message(JSON, body), upper).body == body


def test_compressed_bodies_are_made_plain_or_given_up() -> None:
    gzip = (("Content-Encoding", "gzip"), ("Content-Length", "9"))
    stream = zlib.compressobj(wbits=31)
    body = stream.compress(b"hello") + stream.flush()
    assert inflated(Message(gzip, body)) == Message((), b"hello")
    assert inflated(Message(gzip, body + body)) == Message((), b"hellohello")
    assert inflated(Message(gzip, body[:-3])) is None
    assert inflated(Message((("content-encoding", "br"),), b"?")) is None
