"""Requests and answers with their payloads, sent to the receiver of `cutset record` (CAST §3.2).

One JSON line for each finished request or consumed message. The receiver masks secrets before it writes anything, so
that what is secret is decided in one place; the agent sends things as they are, to that receiver alone.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from cutset_agent.outbox import Outbox
from cutset_agent.reports import ReportedSpan

MAX_WAITING_BYTES = 64 << 20
MAX_BODY_BYTES = 65_536
MAX_PAYLOAD_BYTES = 8_192  # of one operation
MAX_OPERATIONS = 500  # of one request: an unbounded retry must fill neither the memory nor the receiver's limit, 16 MiB
OVERHEAD_BYTES = 2_000  # headers and names

_outbox: Outbox | None = None


def start(receiver: str) -> None:
    """`receiver` is the base URL of `cutset record`; without one nothing is recorded."""
    global _outbox  # noqa: PLW0603 -- one process, one agent
    url = f"{receiver.rstrip('/')}/v1/exchanges"
    _outbox = Outbox(url, "application/x-ndjson", _encoded, MAX_WAITING_BYTES) if receiver else None


def is_on() -> bool:
    return _outbox is not None


def exchange(known: Mapping[str, Any], started_ns: int, ended_ns: int, operations: list[dict[str, Any]]) -> None:
    """`known` has the fields of an exchange as `cutset.model.exchange` names them, bodies as bytes."""
    if _outbox is not None:
        times = {"started_at": started_ns / 1e9, "seconds": (ended_ns - started_ns) / 1e9}
        bodies = len(known.get("request_body", b"")) + len(known.get("response_body", b""))
        payloads = sum(len(each["request"]) + len(each["response"]) for each in operations)
        _outbox.put({**known, **times, "operations": list(operations)}, OVERHEAD_BYTES + bodies + payloads)


def operation(
    operations: list[dict[str, Any]], span: ReportedSpan, request: bytes | None, response: bytes | None
) -> None:
    """Adds one to the operations of a request."""
    if len(operations) >= MAX_OPERATIONS:
        return
    each = {
        "endpoint": span.name,
        "occurrence": int(span.attributes["cutset.occurrence"]),
        "started_at": span.started_ns / 1e9,
        "seconds": (span.ended_ns - span.started_ns) / 1e9,
        "failed": span.failed,
        "request": (request or b"")[:MAX_PAYLOAD_BYTES],
        "response": (response or b"")[:MAX_PAYLOAD_BYTES],
    }
    if "cutset.peer" in span.attributes:
        each["peer"] = span.attributes["cutset.peer"]
        each["peer_occurrence"] = int(span.attributes["cutset.peer_occurrence"])
    if "cutset.timeout" in span.attributes:
        each["timeout"] = float(span.attributes["cutset.timeout"])
    operations.append(each)


def flush() -> bool:
    """Waits until all exchanges are on disk, for some seconds at most."""
    return _outbox is None or _outbox.flush()


def dropped() -> int:
    return 0 if _outbox is None else _outbox.dropped


def _encoded(exchanges: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(each, default=_in_base64).encode() + b"\n" for each in exchanges)


def _in_base64(value: object) -> str:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    raise TypeError(f"expected bytes, found {type(value).__name__}")
