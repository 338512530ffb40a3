"""Calls that an agent saw: of data stores, caches and brokers, of third parties, and those that a sidecar saw too.

The last are the caller's own side of a call that the mesh tells of. Which call of the mesh it is follows from spans
inside each other, where the agent's span goes on with the call; where an SDK's span does instead, from what was called,
for whom, and when: both clocks are those of one process or of one machine.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cutset.lineage.agent_spans import call_site_of, has_failed, is_agent_call, is_own, own_calls
from cutset.lineage.calls import Attempt, AttemptedCall, calls_of, is_mesh_span, served_by, sidecar_api, within_failure
from cutset.model.call_site import AgentCallSite
from cutset.model.point import Point
from cutset.model.span import Span

SKEW_NS = 5_000_000  # a sidecar may have seen a call begin that much before its caller says so

# Of call sites whose calls go through the mesh: the caller's own side of them.
MeshSides = Mapping[AgentCallSite, Point]


def sides_of(spans: Sequence[Span], root_id: str) -> dict[str, Span]:
    """Of calls that the mesh saw, by the id of the first attempt's span: the agent's span of the caller's own side."""
    by_id = {span.span_id: span for span in spans}
    remote = [span for span in own_calls(spans) if call_site_of(span).is_remote]
    found: dict[str, Span] = {}
    if not remote:
        return found
    ids = {span.span_id: span for span in remote}
    left: list[Span] = []
    for call in calls_of(spans, root_id):
        first = call.attempts[0].span
        inside = next((each for each in _enclosing(first, by_id) if each in ids), None)
        if inside:
            found[first.span_id] = ids[inside]
        else:
            left.append(first)
    taken = {span.span_id for span in found.values()}
    served = _by_served([span for span in remote if span.span_id not in taken], by_id)
    for mesh in left:
        around = served_by(mesh, by_id)
        candidates = served.get(around.span_id if around else "", [])
        fitting = [each for each in candidates if _fits(each, mesh)]
        if fitting:
            chosen = min(fitting, key=lambda each: (each.parent_id != mesh.parent_id, each.start_ns))
            found[mesh.span_id] = chosen
            candidates.remove(chosen)
    return found


def mesh_sides_of(spans: Sequence[Span], root_id: str) -> dict[AgentCallSite, Point]:
    """Call sites whose calls a sidecar saw, with what was called."""
    calls = {call.attempts[0].span.span_id: call.attempts[0].point for call in calls_of(spans, root_id)}
    return {
        call_site_of(span): replace(calls[mesh].of_api, caller=call_site_of(span).service)
        for mesh, span in sides_of(spans, root_id).items()
    }


def unseen_sites(spans: Sequence[Span], root_id: str) -> frozenset[AgentCallSite]:
    """Of other services or third parties, where calls were made that no sidecar tells of, and no fault hindered."""
    seen = {span.span_id for span in sides_of(spans, root_id).values()}
    calls = (span for span in own_calls(spans) if span.span_id not in seen and "cutset.fault" not in span.attributes)
    return frozenset(site for span in calls if (site := call_site_of(span)).is_remote)


def agent_calls_of(spans: Sequence[Span], root_id: str, known: MeshSides) -> tuple[AttemptedCall, ...]:
    """Each is one attempt: what a library tries again by itself, the agent does not see."""
    by_id = {span.span_id: span for span in spans}
    known = {**known, **mesh_sides_of(spans, root_id)}
    return tuple(
        AttemptedCall((_attempt(span, known),), within_failure(span, by_id, root_id)) for span in own_calls(spans)
    )


def calls_of_others(spans: Sequence[Span], known: MeshSides) -> Iterator[Attempt]:
    """What was not faulted though the plan says so, since it may be others' work; after the answer, no matter."""
    by_id = {span.span_id: span for span in spans}
    for span in spans:
        if is_agent_call(span) and not is_own(span):
            around = served_by(span, by_id)
            if around is None or span.start_ns <= around.end_ns:
                yield _attempt(span, known)


def _attempt(span: Span, known: MeshSides) -> Attempt:
    site = call_site_of(span)
    not_faulted = str(span.attributes.get("cutset.not_fired", ""))
    injected = bool(span.attributes.get("cutset.fault"))
    point = known.get(site) or site.point
    return Attempt(span, point, has_failed(span), injected, planned=True, not_faulted=not_faulted)


def _fits(agent: Span, mesh: Span) -> bool:
    if call_site_of(agent).api != sidecar_api(mesh):
        return False
    return agent.parent_id == mesh.parent_id or agent.start_ns - SKEW_NS <= mesh.start_ns <= agent.end_ns + SKEW_NS


def _by_served(calls: Sequence[Span], by_id: dict[str, Span]) -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = defaultdict(list)
    for span in calls:
        around = served_by(span, by_id)
        found[around.span_id if around else ""].append(span)
    return found


def _enclosing(span: Span, by_id: dict[str, Span]) -> Iterator[str]:
    """The spans around a call that its caller made."""
    seen = {span.span_id}
    enclosing = by_id.get(span.parent_id)
    while enclosing is not None and enclosing.span_id not in seen and not is_mesh_span(enclosing):
        yield enclosing.span_id
        seen.add(enclosing.span_id)  # malformed traces may hold a cycle of parents
        enclosing = by_id.get(enclosing.parent_id)
