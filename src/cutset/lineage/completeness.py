"""Whether all spans of an execution have arrived, judged by the shape of the trace alone.

A process exports its spans in the order in which they end, so a server span comes after the client spans made inside
it. Hence a path is whole when each well answered call, the request itself included, has the application's server span
below it, and each client span of a remote call has the mesh's spans of its attempts below it, up to a good one unless
the call failed: by induction from the entry, nothing is missing but perhaps the last failed attempt of a failed call.
What happened inside a failed call is on no path, so it need not be whole: the process may have died of it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cutset.lineage.calls import answered_badly, attempt_number, entry_span, is_mesh_span
from cutset.lineage.client_spans import address_of, remote_calls
from cutset.model.span import Span, SpanKind

_HUNG_UP = frozenset({"DC", "DR"})  # the caller did not wait for the answer: HTTP/1.1 and HTTP/2
_DELAY = re.compile(r"delay\((\d+)ms\)")


@dataclass(frozen=True, slots=True)
class Instrumentation:
    """What services can be relied on to tell, as their own spans showed."""

    telling: frozenset[str]  # every request that they got, and every call that they made
    silent: frozenset[str]  # not everything: what they call is known only when the mesh has told it


def instrumentation_of(spans: Sequence[Span]) -> Instrumentation:
    by_id = {span.span_id: span for span in spans}
    served = _served(spans)
    mesh = [span for span in spans if is_mesh_span(span)]
    silent = {_service(span) for span in mesh if _reached_application(span) and span.span_id not in served}
    for span in mesh:
        caller = by_id.get(span.parent_id)
        if caller is not None and caller.kind is not SpanKind.CLIENT:
            silent.update(_enclosing_service(caller, by_id))
    # Of a service that was never let through to, nothing is known yet.
    seen = frozenset(_service(span) for span in mesh if _reached_application(span))
    return Instrumentation(telling=seen - silent, silent=frozenset(silent))


def is_closed(spans: Sequence[Span], root_id: str, instrumentation: Instrumentation) -> bool:
    """Nothing more will arrive. Never so when a silent service took part: it may have called others."""
    parents = {root_id, *(span.span_id for span in spans)}
    if any(span.parent_id not in parents for span in spans):
        return False
    served = _served(spans)
    answered = (span for span in spans if is_mesh_span(span) and _reached_application(span))
    return all(
        span.span_id in served and _service(span) not in instrumentation.silent for span in answered
    ) and not missing_part(spans, root_id, instrumentation)


def missing_part(spans: Sequence[Span], root_id: str, instrumentation: Instrumentation) -> str:
    """A span without which the path may be shorter than it was; empty when the path is whole."""
    if entry_span(spans, root_id) is None:
        return "the mesh's span of the request itself"
    served = _served(spans)
    attempts: dict[str, list[Span]] = {}
    for span in filter(is_mesh_span, spans):
        attempts.setdefault(span.parent_id, []).append(span)
    for span in spans:
        if is_mesh_span(span):
            answered = _reached_application(span) and not answered_badly(span)
            if answered and span.span_id not in served and _service(span) in instrumentation.telling:
                return f"the span by which {_service(span)!r} itself tells of its answer"
    for span in remote_calls(spans):
        if not _is_attempted(span, attempts.get(span.span_id, [])):
            to = f" to {address}" if (address := address_of(span)) else ""
            return f"the mesh's span of the call {span.name!r} by {span.service!r}{to}"
    return ""


def is_abandoned(spans: Sequence[Span]) -> bool:
    """Some caller hung up on an application, which may be at work still and call others."""
    served = _served(spans)
    return any(
        is_mesh_span(span) and _flags(span) & _HUNG_UP and _reached_application(span) and span.span_id not in served
        for span in spans
    )


def _reached_application(span: Span) -> bool:
    """Whether the application got this attempt and lived to answer it, whether or not the caller waited."""
    flags = _flags(span)
    if flags & _HUNG_UP and "DI" in flags:
        delay = _DELAY.search(str(span.attributes.get("cutset.fault", "")))
        if delay is not None and span.end_ns - span.start_ns < int(delay[1]) * 1_000_000:
            return False  # the caller hung up while the mesh still held the call back
    return flags <= {"-", "", "DI"} | _HUNG_UP  # all others are the mesh's own answers


def _is_attempted(span: Span, made: Sequence[Span]) -> bool:
    if not made or len(made) < max(attempt_number(attempt) for attempt in made):
        return False
    return span.error or not all(answered_badly(attempt) for attempt in made)


def _served(spans: Sequence[Span]) -> set[str]:
    return {span.parent_id for span in spans if span.kind is SpanKind.SERVER and not is_mesh_span(span)}


def _enclosing_service(span: Span, by_id: dict[str, Span]) -> set[str]:
    """The service whose application made this span, by its name in the mesh; none if that is not known."""
    seen: set[str] = set()
    enclosing: Span | None = span
    while enclosing is not None and enclosing.span_id not in seen:
        if is_mesh_span(enclosing):
            return {_service(enclosing)}
        seen.add(enclosing.span_id)  # malformed traces may hold a cycle of parents
        enclosing = by_id.get(enclosing.parent_id)
    return set()


def _service(span: Span) -> str:
    return str(span.attributes["cutset.service"])


def _flags(span: Span) -> set[str]:
    return set(str(span.attributes.get("response_flags", "")).split(","))
