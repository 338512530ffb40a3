import asyncio
import gzip
from collections.abc import Sequence

import pytest
from starlette.requests import Request
from starlette.types import Message

from cutset.receive.body import BodyError, read_body


def request_of(chunks: Sequence[bytes], encoding: str | None = None) -> tuple[Request, list[Message]]:
    """A request as a server hands it over, and what of it has not been read."""
    left: list[Message] = [
        {"type": "http.request", "body": chunk, "more_body": number < len(chunks)}
        for number, chunk in enumerate(chunks, start=1)
    ]

    async def receive() -> Message:
        return left.pop(0)

    headers = [(b"content-encoding", encoding.encode())] if encoding is not None else []
    return Request({"type": "http", "headers": headers}, receive), left


def body_of(chunks: Sequence[bytes], encoding: str | None = None, limit: int = 100) -> bytes:
    return asyncio.run(read_body(request_of(chunks, encoding)[0], limit=limit))


def test_plain_and_compressed_bodies_come_out_alike() -> None:
    members = gzip.compress(b"one ", mtime=0) + gzip.compress(b"two", mtime=0)
    assert body_of([b"one ", b"two"]) == b"one two"
    assert body_of([b"one two"], "identity") == b"one two"
    assert body_of([members[:9], members[9:]], " GZIP") == b"one two"


@pytest.mark.parametrize(
    ("chunks", "encoding", "status", "message"),
    [
        ([bytes(60), bytes(60)], None, 413, "exceeds 100 bytes"),
        ([gzip.compress(bytes(101), mtime=0)], "gzip", 413, "exceeds 100 bytes"),
        ([b"x"], "br", 415, "content encoding `br`"),
        ([b"plain"], "gzip", 400, "not gzip"),
    ],
)
def test_a_refusal_says_why_and_comes_after_the_whole_body(
    chunks: list[bytes], encoding: str | None, status: int, message: str
) -> None:
    request, left = request_of(chunks, encoding)
    with pytest.raises(BodyError, match=message) as refusal:
        asyncio.run(read_body(request, limit=100))
    assert refusal.value.status == status
    assert not left
