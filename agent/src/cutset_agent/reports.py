"""Spans of the agent as OTLP/HTTP JSON: each operation of a request that carries a plan, and the request itself.

They are the proof that a fault fired, and what it did. `WIRE.md` lists their attributes.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NamedTuple

from cutset_agent import __version__
from cutset_agent.outbox import Outbox

MAX_SPANS = 20_000  # 10 MB at most; a drill makes some hundred a second

MAX_ERROR_KINDS = 100

KINDS = {"server": 2, "client": 3, "producer": 4, "consumer": 5}

errors: Counter[str] = Counter()  # what went wrong within the agent, and how often
_outbox: Outbox | None = None


class ReportedSpan(NamedTuple):
    service: str
    name: str
    kind: str  # of KINDS
    ids: tuple[str, str, str]  # of the trace, the span and its parent, the last possibly empty
    started_ns: int
    ended_ns: int
    failed: bool
    attributes: dict[str, str]


def start(collector: str) -> None:
    """`collector` is the base URL of an OTLP/HTTP receiver; without one nothing is reported."""
    global _outbox  # noqa: PLW0603 -- one process, one agent
    url = f"{collector.rstrip('/')}/v1/traces"
    _outbox = Outbox(url, "application/json", _encoded, MAX_SPANS) if collector else None


def report(span: ReportedSpan) -> None:
    if _outbox is not None:
        _outbox.put(span)


def count_error(where: str, error: BaseException) -> None:
    kind = f"{where}: {error!r}"[:300]
    errors[kind if kind in errors or len(errors) < MAX_ERROR_KINDS else "others"] += 1


def flush() -> bool:
    """Waits until all spans are sent, for some seconds at most."""
    return _outbox is None or _outbox.flush()


def dropped() -> int:
    return 0 if _outbox is None else _outbox.dropped


def _encoded(spans: list[ReportedSpan]) -> bytes:
    by_service: dict[str, list[dict[str, Any]]] = {}
    for each in spans:
        by_service.setdefault(each.service, []).append(_as_otlp(each))
    resources = [
        {
            "resource": {"attributes": _attributes({"service.name": service})},
            "scopeSpans": [{"scope": {"name": "cutset_agent"}, "spans": members}],
        }
        for service, members in by_service.items()
    ]
    return json.dumps({"resourceSpans": resources}).encode()


def _as_otlp(each: ReportedSpan) -> dict[str, Any]:
    trace_id, span_id, parent_id = each.ids
    attributes = {"cutset.service": each.service, "cutset.agent": __version__, **each.attributes}
    if each.failed:
        attributes["error"] = "true"
    return {
        "traceId": trace_id,
        "spanId": span_id,
        "parentSpanId": parent_id,
        "name": each.name,
        "kind": KINDS[each.kind],
        "startTimeUnixNano": str(each.started_ns),
        "endTimeUnixNano": str(each.ended_ns),
        "attributes": _attributes(attributes),
        "status": {"code": 2} if each.failed else {},
    }


def _attributes(attributes: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": name, "value": {"stringValue": value}} for name, value in attributes.items()]
