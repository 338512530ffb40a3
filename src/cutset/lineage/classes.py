"""Request classes: which kind of user request a trace is of."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from cutset.model.span import Span, SpanKind
from cutset_agent.wire import normalise_api

# Newer and older semantic conventions, and Envoy's names.
_METHOD = ("http.request.method", "http.method")
_PATH = ("url.path", "http.target", "url.full", "http.url")


def request_class(spans: Sequence[Span]) -> str:
    """`GET /product/{id}` where the application names its route, `GET /product/*` where it does not.

    A trace that does not begin with an HTTP request is named after its first span.
    """
    ids = {span.span_id for span in spans}
    # Roots are spans whose parent is not in the trace: a recorded root may have a remote parent.
    roots = [span for span in spans if span.parent_id not in ids]
    if not roots:
        return "unknown"
    servers = sorted((span for span in spans if span.kind is SpanKind.SERVER), key=lambda span: span.start_ns)
    for span in servers:
        if method := _first(span, _METHOD):
            if route := span.attributes.get("http.route"):
                return f"{method} {route}"
            if span.name.startswith(f"{method} /"):
                return span.name
    first = min(roots, key=lambda span: span.start_ns)
    method, path = _first(first, _METHOD), _first(first, _PATH)
    return normalise_api(method, urlsplit(path).path or "/", grpc=False) if method and path else first.name


def _first(span: Span, names: Sequence[str]) -> str:
    return next((str(span.attributes[name]) for name in names if name in span.attributes), "")
