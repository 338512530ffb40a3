"""What the hooks of all HTTP clients share: the answers of a server in trouble, and the context that calls carry on.

Each hook turns an answer into a response object of its library, so that everything above it (retries, decoding,
`raise_for_status`) meets what it would meet if a server had sent it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from http import HTTPStatus
from typing import NamedTuple

from cutset_agent import carriers, recording, request

# Headers that describe a body as it was sent; they are wrong for another one.
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_WITHOUT_BODY = frozenset({204, 205, 304})
_OF_THE_BODY = frozenset({"content-length", "content-encoding", "transfer-encoding"})


class HttpAnswer(NamedTuple):
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes  # shorter than Content-Length says if it was cut off


def _in_trouble(status: int, *headers: tuple[str, str]) -> HttpAnswer:
    phrase = _PHRASES.get(status, "")
    body = b"" if status in _WITHOUT_BODY else phrase.encode()
    described = (("Content-Type", "text/plain"), ("Content-Length", str(len(body))))
    return HttpAnswer(status, phrase, (*described, *headers), body)


STATUS_ANSWERS = {
    f"status-{answer.status}": answer
    for answer in (
        _in_trouble(401, ("WWW-Authenticate", "Bearer")),
        _in_trouble(404),
        _in_trouble(429, ("Retry-After", "1")),
        _in_trouble(500),
        _in_trouble(502),
        _in_trouble(503),
        _in_trouble(504),
    )
}

# What a body fault leaves of a whole answer's body; status and other headers stay as they were.
BODIES = {"empty-body": b"", "wrong-body": b"{}"}


def status_answer(status: int, text: str = "") -> HttpAnswer:
    """Any status, with a body of one's own if it is given: of the type that sidecars give it."""
    answer = STATUS_ANSWERS.get(f"status-{status}") or _in_trouble(status)
    if not text or status in _WITHOUT_BODY:
        return answer
    kept = [(name, value) for name, value in answer.headers if name != "Content-Type"]
    kind = "application/json" if text.startswith(("{", "[")) else "text/plain"
    return answer._replace(headers=(("Content-Type", kind), *with_body(kept, text.encode())), body=text.encode())


def with_body(headers: Iterable[tuple[str, str]], body: bytes) -> list[tuple[str, str]]:
    """The headers of an answer that has this body instead of its own."""
    kept = [(name, value) for name, value in headers if name.lower() not in _OF_THE_BODY]
    return [*kept, ("Content-Length", str(len(body)))]


def is_kept(headers: Mapping[str, str]) -> bool:
    """Whether an answer's body is read at once, for the recording: a stream without an announced end is left alone."""
    if not recording.is_on():
        return False
    length = headers.get("Content-Length") or ""
    return length.isdigit() and int(length) <= recording.MAX_BODY_BYTES


def carry_on(headers: MutableMapping[str, str]) -> None:
    """Adds the present request's context, except for what the application or OpenTelemetry has set already.

    Where the plan does not count, it goes no further either, whoever has set it.
    """
    ours = request.outgoing_headers()
    present = {name.lower(): name for name in headers}
    for name, value in ours.items():
        if name not in present:
            headers[name] = value
        elif name == "traceparent" and request.is_handed_on(headers[present[name]]):
            headers[present[name]] = value
    for name, value in [] if ours else list(headers.items()):
        left = carriers.without_plan(name, value) if isinstance(value, str) else value
        if left != value:
            headers.pop(name)
            headers.update({name: left} if left else {})
