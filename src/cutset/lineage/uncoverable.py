"""Calls of a request that no plan can reach: made without the plan, past the mesh, or in traces of their own."""

from collections.abc import Iterator, Mapping, Sequence

from cutset.lineage.calls import calls_of, is_mesh_span
from cutset.lineage.client_spans import (
    address_of,
    call_of,
    remote_calls,
    store_calls,
    store_of,
    unseen_by_mesh,
    with_agent,
)
from cutset.lineage.handing_on import caller_of, carriers_of, context_of, is_refused
from cutset.lineage.path import foreign_attempts
from cutset.model.coverage import OutOfReach, Uncoverable
from cutset.model.outcome import Points
from cutset.model.span import Span
from cutset.model.wording import quoted


def without_plan(spans: Sequence[Span], root_id: str) -> Iterator[Uncoverable]:
    """Calls in the trace of the request whose sidecar got no plan, or refused it."""
    by_id = {span.span_id: span for span in spans}
    came = {str(span.attributes["cutset.service"]): carriers_of(span) for span in spans if is_mesh_span(span)}
    for call in calls_of(spans, root_id):
        for attempt in call.attempts:
            if attempt.planned:
                continue
            caller = caller_of(attempt.span, by_id)
            if is_refused(attempt.span):
                yield Uncoverable(str(attempt.point.of_api), OutOfReach.REFUSED, caller)
            else:
                lost = quoted(sorted(came.get(caller, ())))
                handed = f"the call has `{context_of(attempt.span)}`, but not the plan"
                detail = f"{handed} that came to {caller} in {lost}" if lost else handed
                yield Uncoverable(str(attempt.point.of_api), OutOfReach.WITHOUT_PLAN, caller, detail=detail)


def past_mesh(traces: Sequence[Sequence[Span]]) -> frozenset[Uncoverable]:
    """Calls that services tell of, and no sidecar in any of these traces of one request: single spans may get lost."""
    told = [_told_calls(spans) for spans in traces]
    return frozenset(each for _, unseen in told for each in unseen) - seen_by_mesh(traces)


def seen_by_mesh(traces: Sequence[Sequence[Span]]) -> frozenset[Uncoverable]:
    """Calls that services tell of, and a sidecar as well, in the same terms: they are coverable."""
    return frozenset(each for spans in traces for each in _told_calls(spans)[0])


def untold(traces: Sequence[Sequence[Span]]) -> Iterator[Uncoverable]:
    """Services that took part and told nothing: whether they call anything past the mesh, nobody can know."""
    took_part = {str(span.attributes["cutset.service"]) for spans in traces for span in spans if is_mesh_span(span)}
    telling = {
        caller_of(span, by_id)
        for spans in traces
        for by_id in ({span.span_id: span for span in spans},)
        for span in spans
        if not is_mesh_span(span)
    }
    if silent := took_part - telling:
        yield Uncoverable("calls past the mesh", OutOfReach.UNTOLD, ", ".join(sorted(silent)))


def _told_calls(spans: Sequence[Span]) -> tuple[set[Uncoverable], set[Uncoverable]]:
    """What services tell of, and the mesh or an agent as well or not."""
    seen: set[Uncoverable] = set()
    unseen: set[Uncoverable] = set()
    by_id = {span.span_id: span for span in spans}
    calls, at_agents = remote_calls(spans), with_agent(spans)
    missed = {call.span_id for call in unseen_by_mesh(calls, spans)} - at_agents
    for call in calls:
        told = _told(call, call_of(call), OutOfReach.PAST_MESH, by_id)
        (unseen if call.span_id in missed else seen).add(told)
    for call in unseen_by_mesh(store_calls(spans), spans):
        told = _told(call, store_of(call), OutOfReach.DATA_STORE, by_id)
        (seen if call.span_id in at_agents else unseen).add(told)
    return seen, unseen


def past_agents(lacking: Mapping[str, frozenset[str]], calls: Points) -> Iterator[Uncoverable]:
    """Calls that an agent sees in some replicas of a service, and in others nobody."""
    for point in sorted(calls):
        if replicas := lacking.get(point.caller):
            names = ", ".join(f"{point.caller}#{replica}" for replica in sorted(replicas))
            yield Uncoverable(str(point), OutOfReach.SOME_AGENTS, point.caller, detail=f"{names} without one")


def in_other_traces(points: Points, strays: Sequence[Span], own: Sequence[Sequence[Span]]) -> Iterator[Uncoverable]:
    """Calls that are put down to a request though they are in other traces than its own, with callers if known.

    A stray trace may tell of its caller. Else it is the one service that was at work on the request each time.
    """
    by_id = {span.span_id: span for span in strays}
    made = [(point, attempt.span) for point, attempt in foreign_attempts(strays) if point in points]
    for point in sorted(points):
        spans = [span for called, span in made if called == point]
        callers = {caller_of(span, by_id) for span in spans} - {""} or _at_work(spans, own)
        yield Uncoverable(str(point), OutOfReach.OTHER_TRACE, callers.pop() if len(callers) == 1 else "")


def _at_work(strays: Sequence[Span], own: Sequence[Sequence[Span]]) -> set[str]:
    """The services that were being called during each of the strays that fell into a request."""
    candidates = [
        {
            str(span.attributes["cutset.service"])
            for spans in own
            for span in spans
            if is_mesh_span(span) and span.start_ns <= stray.start_ns <= span.end_ns
        }
        for stray in strays
    ]
    during = [each for each in candidates if each]
    return set.intersection(*during) if during else set()


def _told(call: Span, name: str, why: OutOfReach, by_id: dict[str, Span]) -> Uncoverable:
    caller = caller_of(call, by_id) or call.service
    return Uncoverable(name, why, caller, address_of(call))
