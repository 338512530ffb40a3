import asyncio

import pytest
from starlette.requests import Request
from starlette.types import Message

from cutset.receive.body import BodyError
from cutset.web.forms import MOST_BYTES, form_of


def sent(body: bytes) -> list[tuple[str, str]]:
    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    return asyncio.run(form_of(Request({"type": "http", "headers": [], "method": "POST"}, receive)))


def test_names_and_values_are_in_their_order_also_empty_ones() -> None:
    assert sent(b"cost=a+b&cost=%C3%A4&empty=&cost=") == [("cost", "a b"), ("cost", "ä"), ("empty", ""), ("cost", "")]


def test_what_is_no_text_is_replaced_not_refused() -> None:
    assert sent(b"a=\xff&b=%ff&\xff") == [("a", "�"), ("b", "�"), ("�", "")]


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(BodyError, match=f"exceeds {MOST_BYTES} bytes"):
        sent(b"x" * (MOST_BYTES + 1))
