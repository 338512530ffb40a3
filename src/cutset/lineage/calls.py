"""Calls between services, read from the spans of one trace.

The mesh records one span per attempt, on the callee's side, with the identity that its configuration gives it: that
identity, not what applications call themselves, is what a plan can address. Application spans only tell which call was
made inside which other.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from cutset.lineage.agent_spans import call_site_of, has_failed, is_agent_call, is_agent_span
from cutset.model.point import Point
from cutset.model.span import GRPC_FAILURES, Span
from cutset_agent.wire import normalise_api

ROUTE = "cutset.route"  # on a sidecar's span: its API by the route that the service tells, put there by us
_INJECTED_FLAGS = frozenset({"FI", "DI"})
_NOTHING = "nothing"  # was spoilt, although a plan asked for it


@dataclass(frozen=True, slots=True)
class Attempt:
    span: Span
    point: Point
    failed: bool
    injected: bool  # the mesh itself, or the agent, says that it faulted this attempt, or spoilt its answer
    planned: bool  # a valid plan arrived with it
    not_faulted: str = ""  # why a fault that the plan has here did not happen, if its agent says so

    @property
    def without_answer(self) -> bool:
        """There was nothing to spoil: an answer without a body, or none at all because nobody waited for it."""
        return self.span.attributes.get("cutset.spoilt") == _NOTHING or _number(self.span, "http.status_code", 1) == 0


@dataclass(frozen=True, slots=True)
class AttemptedCall:
    """One call with all its attempts; the last one decides."""

    attempts: tuple[Attempt, ...]
    within_failure: bool  # some enclosing call failed, so nothing relied on this one

    @property
    def failed(self) -> bool:
        return self.attempts[-1].failed


def calls_of(spans: Iterable[Span], root_id: str) -> tuple[AttemptedCall, ...]:
    """All calls of a trace but the request itself, which the driver sent under `root_id`.

    A call whose caller was never exported counts as relied on: leaving it out would make the path shorter than it was.
    """
    by_id = {span.span_id: span for span in spans}
    groups: list[list[Span]] = []
    latest: dict[tuple[str, Point], list[Span]] = {}
    for span in sorted(by_id.values(), key=lambda span: span.start_ns):
        if not is_mesh_span(span) or span.parent_id == root_id:
            continue
        key = (span.parent_id, called_point(span).of_api)
        if attempt_number(span) > 1 and key in latest:
            latest[key].append(span)
        else:
            latest[key] = [span]
            groups.append(latest[key])
    return tuple(
        AttemptedCall(
            tuple(_attempt(span) for span in sorted(group, key=attempt_number)),
            within_failure(group[0], by_id, root_id),
        )
        for group in groups
    )


def attempts_with_callers(
    calls: Iterable[AttemptedCall], spans: Sequence[Span]
) -> Iterator[tuple[Attempt, Point | None]]:
    """Each attempt in the order of time, with the API that made it, through whatever spans lie in between."""
    attempts = [attempt for call in calls for attempt in call.attempts]
    called = {attempt.span.span_id: attempt.point.of_api for attempt in attempts if is_mesh_span(attempt.span)}
    parents = {span.span_id: span.parent_id for span in spans}
    for attempt in sorted(attempts, key=lambda attempt: attempt.span.start_ns):
        enclosing, passed = attempt.span.parent_id, {attempt.span.span_id}
        while enclosing in parents and enclosing not in called and enclosing not in passed:
            passed.add(enclosing)  # malformed traces may hold a cycle of parents
            enclosing = parents[enclosing]
        yield attempt, called.get(enclosing)


def is_mesh_span(span: Span) -> bool:
    """Agents name their service, too."""
    return "cutset.service" in span.attributes and not is_agent_span(span)


def entry_span(spans: Iterable[Span], root_id: str) -> Span | None:
    """The mesh's span of the request itself, the last if code made several: the driver's own span is its parent."""
    return max(entry_spans(spans, root_id), key=lambda span: (span.end_ns, attempt_number(span)), default=None)


def entry_spans(spans: Iterable[Span], root_id: str) -> list[Span]:
    """Of all attempts of all requests that the driver made."""
    return [span for span in spans if span.parent_id == root_id and is_mesh_span(span)]


def injected_after(spans: Iterable[Span], moment_ns: int) -> frozenset[Point]:
    """APIs and endpoints whose calls were faulted although they began after that moment."""
    late = [span for span in spans if span.start_ns > moment_ns]
    at_agents = (span for span in late if is_agent_call(span) and "cutset.fault" in span.attributes)
    by_mesh = (span for span in late if is_mesh_span(span) and _attempt(span).injected)
    return frozenset(
        [*(call_site_of(span).point for span in at_agents), *(called_point(span).of_api for span in by_mesh)]
    )


def _attempt(span: Span) -> Attempt:
    flags = set(str(span.attributes.get("response_flags", "")).split(","))
    spoilt = span.attributes.get("cutset.spoilt", _NOTHING) != _NOTHING  # Envoy has no flag for it
    injected, planned = spoilt or bool(flags & _INJECTED_FLAGS), "cutset.api" in span.attributes
    return Attempt(span, called_point(span), answered_badly(span), injected, planned)


def answered_badly(span: Span) -> bool:
    grpc_status = _number(span, "grpc.status_code", -1)
    if grpc_status >= 0:
        return grpc_status in GRPC_FAILURES
    status = _number(span, "http.status_code", 0)
    return status == 0 or status >= 500  # 0: the caller hung up before there was an answer


def is_good(span: Span) -> bool:
    """Neither a failure nor a refusal."""
    grpc_status = _number(span, "grpc.status_code", -1)
    return grpc_status == 0 or (grpc_status < 0 and 0 < _number(span, "http.status_code", 0) < 400)


def status_of(span: Span) -> str:
    """What the caller was answered, as far as callers may tell answers apart."""
    if is_agent_span(span):
        return str(span.attributes.get("cutset.status", "")) or ("failed" if span.error else "ok")
    grpc_status = _number(span, "grpc.status_code", -1)
    return f"grpc {grpc_status}" if grpc_status >= 0 else str(_number(span, "http.status_code", 0))


def called_point(span: Span) -> Point:
    """Of a sidecar's span."""
    attributes = span.attributes
    api = str(attributes.get(ROUTE) or sidecar_api(span))
    return Point(str(attributes["cutset.service"]), api, replica=str(attributes.get("cutset.replica", "")))


def sidecar_api(span: Span) -> str:
    """What the sidecar calls it; where no plan arrived, as it would have."""
    attributes = span.attributes
    if (api := attributes.get("cutset.api")) is not None:
        return str(api)
    path = urlsplit(str(attributes.get("http.url", ""))).path
    return normalise_api(str(attributes.get("http.method", "")), path, grpc="grpc.path" in attributes)


def attempt_number(span: Span) -> int:
    return _number(span, "cutset.attempt", 1)


def _number(span: Span, attribute: str, default: int) -> int:
    """Trace data is anybody's word: what is not a number counts as absent."""
    text = str(span.attributes.get(attribute, ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def within_failure(span: Span, by_id: dict[str, Span], root_id: str) -> bool:
    """Whether an enclosing call failed. The request itself does not count: whether it failed is for the judge."""
    seen = {span.span_id}
    enclosing = by_id.get(span.parent_id)
    while enclosing is not None and enclosing.parent_id != root_id and enclosing.span_id not in seen:
        if answered_badly(enclosing) if is_mesh_span(enclosing) else is_agent_call(enclosing) and has_failed(enclosing):
            return True
        seen.add(enclosing.span_id)  # malformed traces may hold a cycle of parents
        enclosing = by_id.get(enclosing.parent_id)
    return False


def served_by(span: Span, by_id: dict[str, Span]) -> Span | None:
    """The mesh's span of the call for which a service made this one."""
    seen = {span.span_id}
    enclosing = by_id.get(span.parent_id)
    while enclosing is not None and enclosing.span_id not in seen and not is_mesh_span(enclosing):
        seen.add(enclosing.span_id)  # malformed traces may hold a cycle of parents
        enclosing = by_id.get(enclosing.parent_id)
    return enclosing if enclosing is not None and is_mesh_span(enclosing) else None
