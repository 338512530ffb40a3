"""Whether all spans of an execution have arrived, judged by the shape of the trace alone.

A process exports its spans in the order in which they end, so a server span comes after the client spans made inside
it. Hence a trace is closed when its entry has arrived, every other span has its parent, each client span of a remote
call has below it the mesh's spans of its attempts, up to a good one unless the call failed, and each mesh span of an
instrumented service that was not aborted has the application's span below it: by induction from the entry, nothing is
missing but perhaps the last failed attempt of a failed call.
"""

from collections.abc import Collection, Sequence

from cutset.lineage.calls import answered_badly, attempt_number, entry_span, is_mesh_span
from cutset.model.span import Span, SpanKind

_REMOTE_CALL_ATTRIBUTES = ("rpc.system", "http.request.method", "http.method")


def is_closed(spans: Sequence[Span], root_id: str, instrumented: Collection[str]) -> bool:
    """`instrumented` names the services whose applications export spans of their own."""
    ids = {span.span_id for span in spans}
    attempts: dict[str, list[Span]] = {}
    served: set[str] = set()
    for span in spans:
        if span.parent_id != root_id and span.parent_id not in ids:
            return False
        if is_mesh_span(span):
            attempts.setdefault(span.parent_id, []).append(span)
        elif span.kind is SpanKind.SERVER:
            served.add(span.parent_id)
    return entry_span(spans, root_id) is not None and all(
        _is_answered(span, served, instrumented) if is_mesh_span(span) else _is_attempted(span, attempts)
        for span in spans
    )


def _is_answered(span: Span, served: set[str], instrumented: Collection[str]) -> bool:
    silent = str(span.attributes["cutset.service"]) not in instrumented
    return silent or _aborted(span) or span.span_id in served


def _is_attempted(span: Span, attempts: dict[str, list[Span]]) -> bool:
    if not _is_remote_call(span):
        return True
    made = attempts.get(span.span_id, [])
    if not made or len(made) < max(attempt_number(attempt) for attempt in made):
        return False
    return span.error or not all(answered_badly(attempt) for attempt in made)


def instrumented_services(spans: Sequence[Span]) -> frozenset[str]:
    """The services of which every mesh span has the application's own span below it."""
    parents = {span.parent_id for span in spans if span.kind is SpanKind.SERVER and not is_mesh_span(span)}
    mesh = [span for span in spans if is_mesh_span(span) and not _aborted(span)]
    silent = {str(span.attributes["cutset.service"]) for span in mesh if span.span_id not in parents}
    return frozenset(str(span.attributes["cutset.service"]) for span in mesh) - silent


def _is_remote_call(span: Span) -> bool:
    return span.kind is SpanKind.CLIENT and any(name in span.attributes for name in _REMOTE_CALL_ATTRIBUTES)


def _aborted(span: Span) -> bool:
    return "FI" in str(span.attributes.get("response_flags", "")).split(",")
