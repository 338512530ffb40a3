"""Calls between services, read from the spans of one trace.

The mesh records one span per attempt, on the callee's side, with the identity that its configuration gives it: that
identity, not what applications call themselves, is what a plan can address. Application spans only tell which call was
made inside which other.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from cutset.model.point import Point
from cutset.model.span import GRPC_FAILURES, Span
from cutset_agent.wire import normalise_api

_INJECTED_FLAGS = frozenset({"FI", "DI"})


@dataclass(frozen=True, slots=True)
class Attempt:
    span: Span
    failed: bool
    injected: bool  # the mesh itself says that it aborted or delayed this attempt
    planned: bool  # a valid plan arrived with it

    @property
    def point(self) -> Point:
        return _point_of(self.span)


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
        key = (span.parent_id, _point_of(span).of_api)
        if attempt_number(span) > 1 and key in latest:
            latest[key].append(span)
        else:
            latest[key] = [span]
            groups.append(latest[key])
    return tuple(
        AttemptedCall(
            tuple(_attempt(span) for span in sorted(group, key=attempt_number)),
            _within_failure(group[0], by_id, root_id),
        )
        for group in groups
    )


def attempts_with_callers(spans: Sequence[Span], root_id: str) -> Iterator[tuple[Attempt, Point | None]]:
    """Each attempt in the order of time, with the API that made it, through whatever spans lie in between."""
    attempts = [attempt for call in calls_of(spans, root_id) for attempt in call.attempts]
    called = {attempt.span.span_id: attempt.point.of_api for attempt in attempts}
    parents = {span.span_id: span.parent_id for span in spans}
    for attempt in sorted(attempts, key=lambda attempt: attempt.span.start_ns):
        enclosing, passed = attempt.span.parent_id, {attempt.span.span_id}
        while enclosing in parents and enclosing not in called and enclosing not in passed:
            passed.add(enclosing)  # malformed traces may hold a cycle of parents
            enclosing = parents[enclosing]
        yield attempt, called.get(enclosing)


def is_mesh_span(span: Span) -> bool:
    return "cutset.service" in span.attributes


def entry_span(spans: Iterable[Span], root_id: str) -> Span | None:
    """The mesh's span of the request itself: the one that the driver's own span id is the parent of."""
    entries = [span for span in spans if span.parent_id == root_id and is_mesh_span(span)]
    return max(entries, key=attempt_number, default=None)


def injected_after(spans: Iterable[Span], moment_ns: int) -> frozenset[Point]:
    """APIs whose calls were faulted although they began after that moment."""
    late = (span for span in spans if is_mesh_span(span) and span.start_ns > moment_ns)
    return frozenset(_point_of(span).of_api for span in late if _attempt(span).injected)


def _attempt(span: Span) -> Attempt:
    flags = set(str(span.attributes.get("response_flags", "")).split(","))
    return Attempt(span, answered_badly(span), bool(flags & _INJECTED_FLAGS), "cutset.api" in span.attributes)


def answered_badly(span: Span) -> bool:
    grpc_status = _number(span, "grpc.status_code", -1)
    if grpc_status >= 0:
        return grpc_status in GRPC_FAILURES
    status = _number(span, "http.status_code", 0)
    return status == 0 or status >= 500  # 0: the caller hung up before there was an answer


def status_of(span: Span) -> str:
    """What the caller was answered, as far as callers may tell answers apart."""
    grpc_status = _number(span, "grpc.status_code", -1)
    return f"grpc {grpc_status}" if grpc_status >= 0 else str(_number(span, "http.status_code", 0))


def _point_of(span: Span) -> Point:
    attributes = span.attributes
    api = attributes.get("cutset.api")
    if api is None:  # no plan arrived, so the filter did not name it: name it as the filter would have
        path = urlsplit(str(attributes.get("http.url", ""))).path
        api = normalise_api(str(attributes.get("http.method", "")), path, grpc="grpc.path" in attributes)
    return Point(str(attributes["cutset.service"]), str(api), replica=str(attributes.get("cutset.replica", "")))


def attempt_number(span: Span) -> int:
    return _number(span, "cutset.attempt", 1)


def _number(span: Span, attribute: str, default: int) -> int:
    """Trace data is anybody's word: what is not a number counts as absent."""
    text = str(span.attributes.get(attribute, ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def _within_failure(span: Span, by_id: dict[str, Span], root_id: str) -> bool:
    """Whether an enclosing call failed. The request itself does not count: whether it failed is for the judge."""
    seen = {span.span_id}
    enclosing = by_id.get(span.parent_id)
    while enclosing is not None and enclosing.parent_id != root_id and enclosing.span_id not in seen:
        if is_mesh_span(enclosing) and answered_badly(enclosing):
            return True
        seen.add(enclosing.span_id)  # malformed traces may hold a cycle of parents
        enclosing = by_id.get(enclosing.parent_id)
    return False
