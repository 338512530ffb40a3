"""Thin OpenTelemetry instrumentation, by hand: the shop's calls are a benchmark's hot path.

What an inbound request carries lives in one OpenTelemetry `Context`: the parent span with its tracestate, and the
headers that are handed on byte for byte. A call made with a fresh `Context` therefore drops all of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import requests
from opentelemetry.context import Context, attach, create_key, detach, get_current, get_value, set_value
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

EXPORT_DELAY_MILLISECONDS = 50  # an experiment waits for its trace, so not the default of 5 s; each export costs too
EXPORT_SECONDS = 2.0  # how long one export may try; a collector that is gone must not hold the shop up when it stops
QUEUE_SPANS = 65_536  # about a thousand requests in flight; a dropped span would look like a call never made

FORWARDED_HEADERS = frozenset({"baggage", "uber-trace-id"})
FORWARDED_PREFIX = "uberctx-"  # how Jaeger's own clients carry baggage

_FORWARDED = create_key("forwarded-headers")
_PROPAGATOR = TraceContextTextMapPropagator()

Headers = Iterable[tuple[str, str]]


def span_processor(otlp_endpoint: str) -> SpanProcessor | None:
    """One for all replicas in a process: the exporter sorts spans by resource. None when nobody listens."""
    if not otlp_endpoint:
        return None
    session = requests.Session()
    session.trust_env = False  # a proxy from the environment cannot reach a collector on loopback
    exporter = OTLPSpanExporter(f"{otlp_endpoint.rstrip('/')}/v1/traces", timeout=EXPORT_SECONDS, session=session)
    return BatchSpanProcessor(exporter, max_queue_size=QUEUE_SPANS, schedule_delay_millis=EXPORT_DELAY_MILLISECONDS)


def tracer_of(service: str, replica: str, processor: SpanProcessor | None) -> Tracer:
    resource = Resource({"service.name": service, "service.instance.id": replica})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    if processor is not None:
        provider.add_span_processor(processor)
    return provider.get_tracer("cutset_demo")


def extract(headers: Headers) -> Context:
    trace: dict[str, list[str]] = {}
    forwarded = []
    for name, value in headers:
        if name in ("traceparent", "tracestate"):
            trace.setdefault(name, []).append(value)
        elif name in FORWARDED_HEADERS or name.startswith(FORWARDED_PREFIX):
            forwarded.append((name, value))
    return set_value(_FORWARDED, tuple(forwarded), _PROPAGATOR.extract(trace, Context()))


def inject() -> list[tuple[str, str]]:
    """The headers of an outbound call made now, inside `record`."""
    context = get_current()
    trace: dict[str, str] = {}
    _PROPAGATOR.inject(trace, context)
    forwarded = get_value(_FORWARDED, context)
    return [*trace.items(), *(forwarded if isinstance(forwarded, tuple) else ())]


@contextmanager
def record(
    tracer: Tracer, name: str, kind: SpanKind, attributes: Mapping[str, str | int], parent: Context | None = None
) -> Iterator[Span]:
    """A span around a block, as the block's current span. It ends as ERROR when the block raises."""
    # Not `start_as_current_span`: that would put the span into the current context and lose the rest of `parent`.
    context = get_current() if parent is None else parent
    span = tracer.start_span(name, context, kind, attributes)
    token = attach(set_span_in_context(span, context))
    try:
        yield span
    except BaseException as error:
        span.set_status(Status(StatusCode.ERROR, f"{type(error).__name__}: {error}"))
        raise
    finally:
        detach(token)
        span.end()
