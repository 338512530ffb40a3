"""A span as OpenTelemetry means it, reduced to what Cutset reasons about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

AttributeValue = str | int | float | bool


class SpanKind(StrEnum):
    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"
    PRODUCER = "producer"
    CONSUMER = "consumer"


@dataclass(frozen=True, slots=True)
class Span:
    trace_id: str  # 32 lower-case hex digits
    span_id: str  # 16 lower-case hex digits
    parent_id: str  # "" for a root
    service: str
    name: str
    kind: SpanKind
    start_ns: int
    end_ns: int
    error: bool = False
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict, hash=False)
