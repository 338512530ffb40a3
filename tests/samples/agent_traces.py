"""Spans of an agent in `cart`, to be put into the traces of `trace_builder`."""

from collections.abc import Sequence

from cutset.model.span import Span, SpanKind


def agent_call(
    span_id: str,
    parent_id: str,
    endpoint: str,
    *,
    service: str = "cart",
    kind: SpanKind = SpanKind.CLIENT,
    error: bool = False,
    times: tuple[int, int] = (0, 1),
    occurrence: str = "1",
    **facts: str,
) -> Span:
    attributes = {"cutset.service": service, "cutset.agent": "1", "cutset.endpoint": endpoint}
    attributes |= {"cutset.occurrence": occurrence, **{f"cutset.{name}": value for name, value in facts.items()}}
    return Span("t" * 32, span_id, parent_id, service, endpoint, kind, *times, error, attributes)


def agent_request(span_id: str, parent_id: str, *, service: str = "cart", **facts: str) -> Span:
    attributes = {"cutset.service": service, "cutset.agent": "1", **{f"cutset.{n}": v for n, v in facts.items()}}
    return Span("t" * 32, span_id, parent_id, service, "GET /", SpanKind.SERVER, 0, 9, attributes=attributes)


def of_mesh(service: str, spans: Sequence[Span]) -> Span:
    """The mesh's first span of a call of the service."""
    return next(
        each
        for each in spans
        if each.attributes.get("cutset.service") == service and "cutset.agent" not in each.attributes
    )


def serving(service: str, spans: Sequence[Span]) -> Span:
    """The service's own span of the request that it served."""
    return next(each for each in spans if each.service == service and each.kind is SpanKind.SERVER)
