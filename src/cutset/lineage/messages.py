"""Traces without what consumers of messages do: the request goes on without waiting for them.

A message that somebody waits for (a request over a broker) is a call like any other, and what its consumer does is part
of the answer.
"""

from collections.abc import Sequence

from cutset.lineage.agent_spans import call_site_of, is_agent_call
from cutset.lineage.calls import is_mesh_span
from cutset.model.span import Span, SpanKind

_ANSWERED = ("request", "rpc")  # how libraries call what waits for an answer


def without_messages(spans: Sequence[Span]) -> tuple[Span, ...]:
    by_id = {span.span_id: span for span in spans}
    handled = {span.span_id for span in spans if _is_left_alone(span, by_id)}
    if not handled:
        return tuple(spans)
    return tuple(span for span in spans if not _is_within(span, handled, by_id))


def _is_left_alone(span: Span, by_id: dict[str, Span]) -> bool:
    """A consumer's work that nobody waits for, as far as spans tell."""
    if span.kind is not SpanKind.CONSUMER or is_mesh_span(span):
        return False
    sender = by_id.get(span.parent_id)
    if sender is None:
        return True
    if is_agent_call(sender):
        return call_site_of(sender).api not in _ANSWERED
    return sender.end_ns < span.end_ns


def _is_within(span: Span, handled: set[str], by_id: dict[str, Span]) -> bool:
    seen: set[str] = set()
    around: Span | None = span
    while around is not None and around.span_id not in seen:
        if around.span_id in handled:
            return True
        seen.add(around.span_id)  # malformed traces may hold a cycle of parents
        around = by_id.get(around.parent_id)
    return False
