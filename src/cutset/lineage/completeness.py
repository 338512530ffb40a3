"""Whether all spans of an execution have arrived, judged by the shape of the trace alone.

A process exports its spans in the order in which they end, so a server span comes after the client spans made inside
it. Hence a path is whole when each well answered call, the request itself included, has the application's server span
below it, and each client span of a remote call has the mesh's spans of its attempts below it, up to a good one unless
the call failed: by induction from the entry, nothing is missing but perhaps the last failed attempt of a failed call.
What happened inside a failed call is on no path, so it need not be whole: the process may have died of it.

An agent exports by itself, in the order in which things end, too: where one is, its own span of the request must be
there, and as many calls as that says that there were.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cutset.lineage.agent_calls import unseen_sites
from cutset.lineage.agent_spans import is_agent_call, is_agent_request, is_agent_span, is_own
from cutset.lineage.calls import answered_badly, attempt_number, entry_span, is_mesh_span, served_by
from cutset.lineage.client_spans import address_of, remote_calls, with_agent
from cutset.model.call_site import AgentCallSite
from cutset.model.span import Span, SpanKind

_HUNG_UP = frozenset({"DC", "DR"})  # the caller did not wait for the answer: HTTP/1.1 and HTTP/2
_DELAY = re.compile(r"delay\((\d+)ms\)")


@dataclass(frozen=True, slots=True)
class Instrumentation:
    """What services can be relied on to tell, as their own spans showed."""

    telling: frozenset[str]  # every request that they got, and every call that they made
    silent: frozenset[str]  # not everything: what they call is known only when the mesh has told it
    agents: frozenset[str] = frozenset()  # whose agent tells of every request that they got
    beyond: frozenset[AgentCallSite] = frozenset()  # where agents see calls that go past the mesh: to third parties


def instrumentation_of(spans: Sequence[Span], beyond: frozenset[AgentCallSite] = frozenset()) -> Instrumentation:
    by_id = {span.span_id: span for span in spans}
    served, at_agents = _served(spans), _agents_served(spans)
    mesh = [span for span in spans if is_mesh_span(span)]
    reached = [span for span in mesh if _reached_application(span)]
    silent = {_service(span) for span in reached if span.span_id not in served and span.span_id not in at_agents}
    for span in mesh:
        caller = by_id.get(span.parent_id)
        if caller is not None and caller.kind is not SpanKind.CLIENT:
            silent.update(_enclosing_service(caller, by_id))
    # Of a service that was never let through to, nothing is known yet.
    seen = frozenset(map(_service, reached))
    return Instrumentation(
        telling=seen - silent - {_service(span) for span in reached if span.span_id not in served},
        silent=frozenset(silent),
        agents=seen - {_service(span) for span in reached if span.span_id not in at_agents},
        beyond=beyond,
    )


def extended(known: Instrumentation, spans: Sequence[Span]) -> Instrumentation:
    """With the services of this whole trace of which nothing was known."""
    found, before = instrumentation_of(spans), known.telling | known.silent | known.agents
    return replace(
        known,
        telling=known.telling | (found.telling - before),
        silent=known.silent | (found.silent - before),
        agents=known.agents | (found.agents - before),
    )


def without_agent(traces: Sequence[Sequence[Span]]) -> dict[str, frozenset[str]]:
    """Of services with an agent in some replicas, those in which there is none, by what they answered well."""
    having: dict[str, set[str]] = {}
    lacking: dict[str, set[str]] = {}
    for spans in traces:
        at_agents = _agents_served(spans)
        for span in spans:
            if is_mesh_span(span) and _reached_application(span) and not answered_badly(span):
                found = having if span.span_id in at_agents else lacking
                found.setdefault(_service(span), set()).add(str(span.attributes.get("cutset.replica", "")))
    left = {service: frozenset(lacking.get(service, set()) - replicas) for service, replicas in having.items()}
    return {service: replicas for service, replicas in left.items() if replicas}


def without_entry(traces: Sequence[Sequence[Span]]) -> frozenset[str]:
    """Services whose agent tells of calls, and not of the requests that they are of: nobody knows when it told of all.

    So it is where requests come in by a server that it does not know, and it learns of them from an SDK.
    """
    found: set[str] = set()
    for spans in traces:
        by_id, at_agents = {span.span_id: span for span in spans}, _agents_served(spans)
        for span in spans:
            around = served_by(span, by_id) if is_agent_call(span) and is_own(span) else None
            if around is not None and around.span_id not in at_agents and not answered_badly(around):
                found.add(_service(around))
    return frozenset(found - {_service(span) for spans in traces for span in _served_whole(spans)})


def _served_whole(spans: Sequence[Span]) -> list[Span]:
    at_agents = _agents_served(spans)
    return [span for span in spans if span.span_id in at_agents]


def is_closed(spans: Sequence[Span], root_id: str, instrumentation: Instrumentation) -> bool:
    """Nothing more will arrive. Never so when a silent service took part: it may have called others. Nor one that was
    never let through to before: nobody knows whether an agent in it has more to tell.
    """
    parents = {root_id, *(span.span_id for span in spans)}
    if any(span.parent_id not in parents for span in spans):
        return False
    served, at_agents = _served(spans), _agents_served(spans)
    for span in spans:
        if is_mesh_span(span) and _reached_application(span):
            service = _service(span)
            if service in instrumentation.silent or service not in instrumentation.telling | instrumentation.agents:
                return False
            if service in instrumentation.telling and span.span_id not in served:
                return False
            if service in instrumentation.agents and not at_agents.get(span.span_id):
                return False
    return not missing_part(spans, root_id, instrumentation)


def missing_part(spans: Sequence[Span], root_id: str, instrumentation: Instrumentation) -> str:
    """A span without which the path may be shorter than it was; empty when the path is whole."""
    if entry_span(spans, root_id) is None:
        return "the mesh's span of the request itself"
    return (
        _missing_of_services(spans, instrumentation)
        or _missing_of_calls(spans)
        or _missing_of_agents_calls(spans, root_id, instrumentation)
    )


def _missing_of_services(spans: Sequence[Span], instrumentation: Instrumentation) -> str:
    served, at_agents = _served(spans), _agents_served(spans)
    for span in spans:
        if not is_mesh_span(span) or not _reached_application(span) or answered_badly(span):
            continue
        service = _service(span)
        if service in instrumentation.telling and span.span_id not in served:
            return f"the span by which {service!r} itself tells of its answer"
        if service in instrumentation.agents and span.span_id not in at_agents:
            return f"the span by which the agent of {service!r} tells of its request"
        if not at_agents.get(span.span_id, True):
            return f"a call that the agent of {service!r} has counted"
    return ""


def _missing_of_calls(spans: Sequence[Span]) -> str:
    attempts: dict[str, list[Span]] = {}
    for span in filter(is_mesh_span, spans):
        attempts.setdefault(span.parent_id, []).append(span)
    told = with_agent(spans)
    for span in remote_calls(spans):
        # Of what an agent saw as well it is known below whether the mesh must have seen it.
        if span.span_id not in told and not _is_attempted(span, attempts.get(span.span_id, [])):
            to = f" to {address}" if (address := address_of(span)) else ""
            return f"the mesh's span of the call {span.name!r} by {span.service!r}{to}"
    return ""


def _missing_of_agents_calls(spans: Sequence[Span], root_id: str, instrumentation: Instrumentation) -> str:
    for site in unseen_sites(spans, root_id) - instrumentation.beyond:
        return f"the mesh's span of the call {site.endpoint!r} by {site.service!r} to {site.peer}"
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
    """By services' own spans. An agent's comes by another way, and proves nothing of these."""
    return {
        span.parent_id
        for span in spans
        if span.kind is SpanKind.SERVER and not is_mesh_span(span) and not is_agent_span(span)
    }


def _agents_served(spans: Sequence[Span]) -> dict[str, bool]:
    """By the mesh's span, of requests whose agent told of their end: whether all calls that it counted are there."""
    by_id = {span.span_id: span for span in spans}
    calls: dict[str, int] = {}
    counted: dict[str, int] = {}
    for span in spans:
        is_request = is_agent_request(span)
        if not is_request and not (is_agent_call(span) and is_own(span)):
            continue
        around = served_by(span, by_id)
        if around is not None and is_request:
            told = str(span.attributes.get("cutset.calls", "0"))
            counted[around.span_id] = counted.get(around.span_id, 0) + (int(told) if told.isdecimal() else 0)
        elif around is not None:
            calls[around.span_id] = calls.get(around.span_id, 0) + 1
    return {mesh: calls.get(mesh, 0) >= number for mesh, number in counted.items()}


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
