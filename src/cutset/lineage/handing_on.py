"""What each service hands on of the trace and of the plan, read from the spans of one request with an empty plan.

The mesh says of each call by which header its trace was named (`cutset.context`, unless by `traceparent`), which
carriers brought a valid plan (`cutset.carriers`), and whether one came and was refused (`cutset.refused`).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from cutset.lineage.calls import Attempt, calls_of, entry_span, is_mesh_span
from cutset.model.outcome import Points
from cutset.model.span import Span

TRACEPARENT = "traceparent"


@dataclass(frozen=True, slots=True)
class HandedOn:
    """What one service did with the context of a request, as the calls that it made in the same trace show."""

    service: str  # empty: nobody knows, since the spans of its own tracer do not come to us
    calls: Points
    contexts: tuple[str, ...]  # the headers that named the trace: `traceparent`, `uber-trace-id`, …
    carriers: tuple[str, ...]  # in which the plan came with each of the calls that it came with
    without_plan: Points  # calls of it that no plan came with
    refused: Points  # calls of it whose plan the mesh did not accept


@dataclass(frozen=True, slots=True)
class Passage:
    """How far one request, its trace and its plan were seen to get."""

    arrived: bool  # the mesh's span of the request itself is there
    accepted: bool  # the mesh took our plan with it: key, environment and clock agree
    refused: bool  # the mesh got our plan with it, and did not take it
    entry: str  # the service that the request was sent to
    services: tuple[HandedOn, ...]  # those that were seen to call others, by name; who exports no span has none
    quiet: frozenset[str]  # called, but not seen to call: they call nobody, or they lose the trace

    @property
    def joined(self) -> bool:
        """Whether any call that a service made is in the trace of the request."""
        return bool(self.services)


def why_not_accepted(passage: Passage) -> str:
    """What must be wrong if the request arrived and its plan did not count; empty if that did, or nothing arrived."""
    if not passage.arrived or passage.accepted:
        return ""
    if passage.refused:
        return (
            "the mesh refused the plan that came with the request: either `CUTSET_KEY` is not the key of the mesh, or "
            "`target.environment` is not its environment, or its clock differs from ours"
        )
    return (
        "no plan came with the request to the mesh: `target.url` must be an address inside of the mesh, not that of "
        "its edge, which drops all plans, nor that of a proxy before it"
    )


def passage_of(spans: Sequence[Span], root_id: str) -> Passage:
    entry = entry_span(spans, root_id)
    by_id = {span.span_id: span for span in spans}
    made: dict[str, list[Attempt]] = defaultdict(list)
    called: set[str] = set() if entry is None else {_service(entry)}
    for call in calls_of(spans, root_id):
        attempt = call.attempts[-1]
        called.add(_service(attempt.span))
        made[caller_of(attempt.span, by_id)].append(attempt)
    services = tuple(_handed_on(service, made[service]) for service in sorted(made))
    return Passage(
        arrived=entry is not None,
        accepted=entry is not None and "cutset.api" in entry.attributes,
        refused=entry is not None and is_refused(entry),
        entry="" if entry is None else _service(entry),
        services=services,
        quiet=frozenset(called - made.keys()),
    )


def caller_of(span: Span, by_id: dict[str, Span]) -> str:
    """The service that made a call, by its name in the mesh or else its own; empty if no span tells."""
    seen, told = {span.span_id}, ""
    enclosing = by_id.get(span.parent_id)
    while enclosing is not None and enclosing.span_id not in seen:
        if is_mesh_span(enclosing):
            return _service(enclosing)
        told = told or enclosing.service
        seen.add(enclosing.span_id)  # malformed traces may hold a cycle of parents
        enclosing = by_id.get(enclosing.parent_id)
    return told


def is_refused(span: Span) -> bool:
    """Whether a plan came with this call that the mesh did not accept."""
    return "cutset.refused" in span.attributes and "cutset.api" not in span.attributes


def _handed_on(service: str, attempts: Sequence[Attempt]) -> HandedOn:
    carried = [carriers_of(attempt.span) for attempt in attempts if attempt.planned]
    unplanned = [attempt for attempt in attempts if not attempt.planned]
    refused = frozenset(attempt.point.of_api for attempt in unplanned if is_refused(attempt.span))
    return HandedOn(
        service=service,
        calls=frozenset(attempt.point.of_api for attempt in attempts),
        contexts=tuple(sorted({context_of(attempt.span) for attempt in attempts})),
        carriers=tuple(sorted(frozenset.intersection(*carried))) if carried else (),
        without_plan=frozenset(attempt.point.of_api for attempt in unplanned) - refused,
        refused=refused,
    )


def context_of(span: Span) -> str:
    """The header by which the mesh knew which trace a call belongs to."""
    return str(span.attributes.get("cutset.context", "")) or TRACEPARENT


def carriers_of(span: Span) -> frozenset[str]:
    """Those that brought a valid plan."""
    return frozenset(filter(None, str(span.attributes.get("cutset.carriers", "")).split(",")))


def _service(span: Span) -> str:
    return str(span.attributes["cutset.service"])
