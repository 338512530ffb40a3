"""Traces without the proxies that stand between callers and those whom they call.

An ingress gateway, or the outbound side of a sidecar, may have spans of its own, in a team's own tracing. They are hops
and no calls: whoever they were asked by called whomever they asked. A gateway whose spans go elsewhere begins a new
parent all the same; then the filter's word tells which span is the request itself (`cutset.entry`), which the driver
marked with the id of its own span, and which no application sees or hands on.
"""

from collections.abc import Sequence
from dataclasses import replace

from cutset.lineage.calls import is_mesh_span
from cutset.model.span import Span


def without_proxies(spans: Sequence[Span], root_id: str) -> tuple[Span, ...]:
    hops = {span.span_id: span.parent_id for span in spans if _is_proxy(span)}
    return tuple(
        replace(span, parent_id=parent) if (parent := _caller(span, hops, root_id)) != span.parent_id else span
        for span in spans
        if span.span_id not in hops
    )


def _is_proxy(span: Span) -> bool:
    """As Envoy says of all its spans; those of our filter are the calls themselves."""
    return span.attributes.get("component") == "proxy" and not is_mesh_span(span)


def _caller(span: Span, hops: dict[str, str], root_id: str) -> str:
    if is_mesh_span(span) and span.attributes.get("cutset.entry") == root_id:
        return root_id
    parent, passed = span.parent_id, {span.span_id}
    while parent in hops and parent not in passed:
        passed.add(parent)  # malformed traces may hold a cycle of parents
        parent = hops[parent]
    return parent
