"""Whether all spans of an execution have arrived, judged by the shape of the trace alone.

A process exports its spans in the order in which they end, so a server span comes after the client spans made inside
it. Hence a trace is closed when its entry has arrived, each client span of a remote call has the mesh's span below it,
and each mesh span of an instrumented service that was not aborted has the application's span below it: by induction
from the entry, nothing is missing.
"""

from collections.abc import Collection, Sequence

from cutset.lineage.calls import entry_span, is_mesh_span
from cutset.model.span import Span, SpanKind

_REMOTE_CALL_ATTRIBUTES = ("rpc.system", "http.request.method", "http.method")


def is_closed(spans: Sequence[Span], root_id: str, instrumented: Collection[str]) -> bool:
    """`instrumented` names the services whose applications export spans of their own."""
    if entry_span(spans, root_id) is None:
        return False
    parents_of_mesh_spans = {span.parent_id for span in spans if is_mesh_span(span)}
    parents_of_server_spans = {span.parent_id for span in spans if _is_application_server_span(span)}
    for span in spans:
        if is_mesh_span(span):
            service = str(span.attributes["cutset.service"])
            if service in instrumented and not _aborted(span) and span.span_id not in parents_of_server_spans:
                return False
        elif _is_remote_call(span) and span.span_id not in parents_of_mesh_spans:
            return False
    return True


def instrumented_services(spans: Sequence[Span]) -> frozenset[str]:
    """The services of which every mesh span has the application's own span below it."""
    parents = {span.parent_id for span in spans if _is_application_server_span(span)}
    mesh = [span for span in spans if is_mesh_span(span) and not _aborted(span)]
    silent = {str(span.attributes["cutset.service"]) for span in mesh if span.span_id not in parents}
    return frozenset(str(span.attributes["cutset.service"]) for span in mesh) - silent


def _is_application_server_span(span: Span) -> bool:
    return span.kind is SpanKind.SERVER and not is_mesh_span(span)


def _is_remote_call(span: Span) -> bool:
    return span.kind is SpanKind.CLIENT and any(name in span.attributes for name in _REMOTE_CALL_ATTRIBUTES)


def _aborted(span: Span) -> bool:
    return "FI" in str(span.attributes.get("response_flags", "")).split(",")
