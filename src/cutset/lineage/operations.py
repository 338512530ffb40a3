"""Agents' spans as the operations that they tell of: calls of data stores, caches, brokers and others."""

from collections.abc import Sequence

from cutset.lineage.agent_spans import own_calls
from cutset.model.drill import ObservedOperation
from cutset.model.span import Span

_PREFIX = "cutset."
_KNOWN = frozenset({"endpoint", "occurrence", "fault", "payload", "service"})


def operations_of(spans: Sequence[Span]) -> dict[str, tuple[ObservedOperation, ...]]:
    """Those that served the request, by the service that made them."""
    found: dict[str, list[ObservedOperation]] = {}
    for span in own_calls(spans):
        found.setdefault(str(span.attributes.get("cutset.service", "")), []).append(operation_of(span, 0))
    return {service: tuple(operations) for service, operations in found.items()}


def operation_of(span: Span, began_ns: int) -> ObservedOperation:
    facts = {
        name.removeprefix(_PREFIX): str(value) for name, value in span.attributes.items() if name.startswith(_PREFIX)
    }
    number = facts.get("occurrence", "")
    return ObservedOperation(
        endpoint=facts["endpoint"],
        occurrence=int(number) if number.isdecimal() else 1,
        started_at=(span.start_ns - began_ns) / 1e9,
        seconds=(span.end_ns - span.start_ns) / 1e9,
        failed=span.error,
        fault=facts.get("fault", ""),
        payload=facts.get("payload", ""),
        facts={name: value for name, value in facts.items() if name not in _KNOWN},
    )
