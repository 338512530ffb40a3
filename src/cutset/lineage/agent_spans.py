"""What agents tell, span by span: the requests that their services served, and the calls that these made.

An agent is inside of a service, and names it by what plans must call it. A sidecar's spans are told apart from an
agent's by what they say of themselves (`cutset.agent`), not by whose service they name.
"""

from collections.abc import Sequence

from cutset.model.call_site import AgentCallSite
from cutset.model.span import Span, SpanKind

# What libraries do to have a connection at all, for this request or for whichever comes next.
_SET_UP = frozenset({"acquire", "auth", "checkout", "connect", "getconn", "hello", "ping", "select"})
_CALLING = frozenset({SpanKind.CLIENT, SpanKind.PRODUCER})


def is_agent_span(span: Span) -> bool:
    return "cutset.agent" in span.attributes or "cutset.endpoint" in span.attributes


def is_agent_request(span: Span) -> bool:
    """The request itself, as the agent saw it begin and end."""
    return span.kind is SpanKind.SERVER and is_agent_span(span) and "cutset.refused" not in span.attributes


def is_agent_call(span: Span) -> bool:
    """A call that the agent saw; perhaps one of others (`is_own`)."""
    return span.kind in _CALLING and "cutset.endpoint" in span.attributes


def is_own(span: Span) -> bool:
    """Whether the agent counted the call as one of the request."""
    return str(span.attributes.get("cutset.occurrence", "")) not in ("", "0")


def call_site_of(span: Span) -> AgentCallSite:
    told = span.attributes
    return AgentCallSite(
        str(told.get("cutset.service", "")), str(told.get("cutset.endpoint", "")), str(told.get("cutset.peer", ""))
    )


def own_calls(spans: Sequence[Span]) -> list[Span]:
    """The calls of the request, in the order of time; what libraries call within a call is a part of it."""
    by_id = {span.span_id: span for span in spans}
    return sorted(
        (
            span
            for span in by_id.values()
            if is_agent_call(span)
            and is_own(span)
            and call_site_of(span).api not in _SET_UP
            and not ((outer := by_id.get(span.parent_id)) and is_agent_call(outer) and _is_same(outer, span))
        ),
        key=lambda span: (span.start_ns, span.span_id),
    )


def has_failed(span: Span) -> bool:
    """Whether the service that made the call saw it fail."""
    status = str(span.attributes.get("cutset.status", ""))
    return span.error or (len(status) == 3 and status.startswith("5"))


def _is_same(outer: Span, inner: Span) -> bool:
    return outer.attributes.get("cutset.service") == inner.attributes.get("cutset.service")
