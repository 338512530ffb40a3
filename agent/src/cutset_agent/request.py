"""The request, or consumed message, that the present code works for: its plan, its trace, what its calls carry on.

It is kept in a ContextVar, so that it follows asyncio's tasks; `threads` lets it follow threads. A request without a
plan has none (unless everything is recorded), and hooked calls go straight through. Where OpenTelemetry runs in the
process, a plan is also found in its current span, so that servers without an entry of ours are no obstacle.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextvars import ContextVar, Token
from typing import Any, NamedTuple

from cutset_agent import carriers, recording, reports, services, wire
from cutset_agent import reach as reaches
from cutset_agent.reach import PlanReach

MAX_ADOPTED = 1000  # requests known from OpenTelemetry alone; a megabyte

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}.*")


class AgentSettings(NamedTuple):
    key: bytes | wire.WireVerifier = b""
    environment: str = "local"
    service: str = "unknown"
    uncontained: bool = False  # whoever started this service agrees to faults that reach all who use it


class ServedRequest:
    __slots__ = ("caller_id", "carried", "counts", "lock", "operations", "plan", "reach", "span_id", "told", "trace_id")

    def __init__(
        self, plan: tuple[wire.WirePart, ...], trace_id: str, span_id: str, carried: dict[str, str], reach: PlanReach
    ) -> None:
        self.plan = plan
        self.reach = reach
        self.trace_id = trace_id
        self.span_id = span_id
        self.caller_id = ""  # the span that the request's own traceparent names
        self.carried = carried  # headers that go on with outgoing calls
        self.counts: dict[str, int] = {}  # calls so far, by endpoint, and by endpoint and peer
        self.told = 0  # calls that were counted and reported so far
        self.lock = threading.Lock()  # a request may work in several threads
        self.operations: list[dict[str, Any]] = []  # for the recording

    def count(self, endpoint: str, peer: str = "") -> tuple[int, int]:
        """The number of this call among the request's calls at the endpoint, and among those to its peer, from 1."""
        with self.lock:
            number = self.counts[endpoint] = self.counts.get(endpoint, 0) + 1
            if not peer:
                return number, number
            to_peer = f"{endpoint} {peer}"
            self.counts[to_peer] = self.counts.get(to_peer, 0) + 1
            return number, self.counts[to_peer]

    def tell(self) -> None:
        """That one of its calls is over and was reported."""
        with self.lock:
            self.told += 1

    def refusal(self) -> str:
        """Why the plan does not count for the present code, if so."""
        why = self.reach.refusal()
        return "" if why == reaches.SHARED and settings.uncontained else why


class RequestEntry:
    """What `enter` gives and `leave` takes."""

    __slots__ = (
        "kind", "operation", "parent_id", "peer", "reach", "request", "reset", "route", "service", "started_ns",
    )  # fmt: skip

    def __init__(
        self,
        reach: PlanReach,
        request: ServedRequest | None,
        operation: str,
        kind: str,
        *,
        parent_id: str = "",
        peer: str = "",
    ) -> None:
        self.reach = reach
        self.request = request
        self.operation = operation
        self.kind = kind
        self.parent_id = parent_id
        self.peer = peer
        self.route = ""  # `/users/{id}`, if the framework tells
        self.service = "" if request is None else service()
        self.reset: Token[ServedRequest | PlanReach] = _current.set(request or reach)
        self.started_ns = time.time_ns()


# Neither within a request that was entered nor known to be without a plan: OpenTelemetry may know more.
_OUTSIDE = ServedRequest((), "", "", {}, PlanReach())
# Of a request without a plan there is only its reach.
_current: ContextVar[ServedRequest | PlanReach] = ContextVar("cutset_request", default=_OUTSIDE)
_operation: ContextVar[str] = ContextVar(
    "cutset_operation", default=""
)  # the span of the hooked call that is under way
_adopted: dict[str, ServedRequest] = {}  # by trace; forgotten altogether when full
_roots: dict[str, PlanReach] = {}  # of OpenTelemetry's, by trace: from their first span in this process to its end
settings = AgentSettings()


def configure(new: AgentSettings) -> None:
    global settings  # noqa: PLW0603 -- one process, one agent
    settings = new
    _adopted.clear()
    _roots.clear()
    reaches.forget_all()


def service() -> str:
    """That the present code belongs to."""
    return services.present() or settings.service


def name_entry(entry: object, name: str) -> None:
    """An application that knows its name says so to the server that has let the request in."""
    if name and isinstance(entry, RequestEntry) and entry.service == settings.service:
        entry.service = name


def current() -> ServedRequest | None:
    request = _current.get()
    if request is _OUTSIDE:
        try:
            return _of_opentelemetry()
        except Exception as error:  # noqa: BLE001 -- the host's call matters more
            reports.count_error("OpenTelemetry", error)
            return None
    return None if isinstance(request, PlanReach) else request


def is_served() -> bool:
    """Whether the present code is a request's own, with a plan or without: what it pulls is no message of its own."""
    request = _current.get()
    if request is _OUTSIDE:
        return False
    return (request if isinstance(request, PlanReach) else request.reach).is_at_home()


def enter(headers: Iterable[tuple[str, str]], operation: str, kind: str = "server", peer: str = "") -> RequestEntry:
    """Begins a request, or the handling of a message (`kind` is `consumer` then, and `operation` its endpoint).

    A request without a plan is entered too: it must not pass for the one in which its task or thread was started.
    """
    found = [(name.lower(), value) for name, value in headers]
    plan = _plan_in(found)
    if not plan and kind == "server" and carriers.is_planned(found):
        _report_refused(found, operation)
    if not plan and not recording.is_on():
        return RequestEntry(reaches.begin(planned=False), None, operation, kind)
    trace_id, parent_id = _trace_in(found)
    reach = reaches.begin(planned=bool(plan))
    request = ServedRequest(plan, trace_id, new_span_id(), carriers.carried_in(found), reach)
    if caller := _traceparent_in(found):
        request.caller_id = caller[2]
    return RequestEntry(reach, request, operation, kind, parent_id=parent_id, peer=peer)


def _report_refused(headers: list[tuple[str, str]], operation: str) -> None:
    """So that whoever signed the plan learns that this agent knows another key or environment."""
    trace_id, parent_id = _trace_in(headers)
    ids, now, told = (trace_id, new_span_id(), parent_id), time.time_ns(), {"cutset.refused": "1"}
    reports.report(
        reports.ReportedSpan(settings.service, operation, "server", ids, now, now, failed=False, attributes=told)
    )


def leave(
    entry: RequestEntry,
    status: int | None = None,
    error: BaseException | None = None,
    exchange: Mapping[str, Any] | None = None,
) -> None:
    """Ends what `enter` began and reports it. `exchange` is what a recording keeps of it: see `recording.exchange`."""
    reaches.leave(entry.reach)
    try:
        _current.reset(entry.reset)
    except ValueError:  # ended in another context than it began, as a generator may
        _current.set(_OUTSIDE)
    request = entry.request
    if request is None:
        return
    attributes = {} if status is None else {"http.status_code": str(status)}
    if entry.kind == "consumer":
        attributes["cutset.endpoint"] = entry.operation
        if entry.peer:
            attributes["cutset.peer"] = entry.peer
    if entry.route:
        attributes["http.route"] = entry.route
    if request.plan:
        attributes["cutset.calls"] = str(request.told)
    if reports.errors:
        attributes["cutset.agent_errors"] = str(sum(reports.errors.values()))
    ended_ns = time.time_ns()
    failed = error is not None or (status is not None and status >= 500)
    ids = (request.trace_id, request.span_id, entry.parent_id)
    started_ns = entry.started_ns
    reports.report(
        reports.ReportedSpan(entry.service, entry.operation, entry.kind, ids, started_ns, ended_ns, failed, attributes)
    )
    if exchange is not None and recording.is_on():
        known: dict[str, Any] = {"id": request.span_id, "service": entry.service, "trace_id": request.trace_id}
        known["status"] = (500 if error is not None else 200) if status is None else status
        recording.exchange({**known, **exchange}, started_ns, ended_ns, request.operations)


def outgoing_headers() -> dict[str, str]:
    """What an outgoing call must carry so that the plan arrives; hooks leave alone what is already set."""
    request = current()
    if request is None or (request.plan and request.refusal()):
        return {}
    return {"traceparent": f"00-{request.trace_id}-{_operation.get() or request.span_id}-01", **request.carried}


def is_handed_on(traceparent: object) -> bool:
    """Whether it is the request's own, as services copy it that have no tracer: a call's span belongs in its place."""
    match, request = _TRACEPARENT.fullmatch(str(traceparent)), current()
    return bool(match and request is not None and match.groups() == (request.trace_id, request.caller_id))


def parent_of_operation(request: ServedRequest) -> str:
    """The span within which the next call of the request is made."""
    if operation := _operation.get():
        return operation
    context = _opentelemetry_context()
    if context is not None and _hex(context.trace_id, 32) == request.trace_id:
        return _hex(context.span_id, 16)
    return request.span_id


def begin_operation(span_id: str) -> Token[str]:
    return _operation.set(span_id)


def end_operation(token: Token[str]) -> None:
    try:
        _operation.reset(token)
    except ValueError:  # as in `leave`
        _operation.set("")


def new_span_id() -> str:
    # Not `random`: a service that seeds it would repeat itself, and be disturbed by us.
    return os.urandom(8).hex()


def _plan_in(headers: Iterable[tuple[str, str]], trace_ids: tuple[str, ...] = ()) -> tuple[wire.WirePart, ...]:
    key, environment = settings.key, settings.environment
    return carriers.read_plan(headers, key=key, environment=environment, now=time.time(), trace_ids=trace_ids)


def _trace_in(headers: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """Trace and parent span: of the request's own context, within it of OpenTelemetry's span, else new ones."""
    match = _traceparent_in(headers)
    context = _opentelemetry_context()
    if context is not None:
        trace_id = _hex(context.trace_id, 32)
        if match is None or match[1] == trace_id:
            return trace_id, _hex(context.span_id, 16)
    if match:
        return match[1], match[2]
    return next(iter(carriers.traces_in(headers)), "") or os.urandom(16).hex(), ""


def _traceparent_in(headers: Iterable[tuple[str, str]]) -> re.Match[str] | None:
    return next((_TRACEPARENT.fullmatch(value.strip()) for name, value in headers if name == "traceparent"), None)


def _opentelemetry_context() -> Any:
    """The SpanContext of OpenTelemetry's current span, if it runs here at all."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    try:
        context = trace.get_current_span().get_span_context()
    except Exception:  # noqa: BLE001 -- half imported, or a version that we do not know
        return None
    return context if context.is_valid else None


def root_began(trace_id: int) -> None:
    """OpenTelemetry began the first span of a trace here: without an entry of ours, that is where a request begins."""
    name = _hex(trace_id, 32)
    if name not in _roots or _roots[name].ended is not None:
        if len(_roots) >= MAX_ADOPTED:
            _roots.clear()
        _roots[name] = PlanReach()


def root_ended(trace_id: int) -> None:
    if reach := _roots.get(_hex(trace_id, 32)):
        reach.end()


def _of_opentelemetry() -> ServedRequest | None:
    """One request for each trace. None if its first span is unknown: nobody would say when it ends."""
    context = _opentelemetry_context()
    if context is None or "cutset" not in (context.trace_state or ()):
        return None
    trace_id = _hex(context.trace_id, 32)
    reach = _roots.get(trace_id)
    if reach is None:
        return None
    request = _adopted.get(trace_id)
    if request is None:
        if len(_adopted) >= MAX_ADOPTED:
            _adopted.clear()
        headers = [("tracestate", context.trace_state.to_header()), *_opentelemetry_baggage()]
        plan, carried = _plan_in(headers, (trace_id,)), carriers.carried_in(headers)
        found = ServedRequest(plan, trace_id, _hex(context.span_id, 16), carried, reach)
        request = _adopted.setdefault(trace_id, found)  # another thread may have been first
    request.reach = reach
    return request if request.plan else None


def _opentelemetry_baggage() -> list[tuple[str, str]]:
    baggage = sys.modules.get("opentelemetry.baggage")
    if baggage is None:
        return []
    return [("baggage", ",".join(f"{name}={value}" for name, value in baggage.get_all().items()))]


def _hex(number: int, digits: int) -> str:
    return f"{number:0{digits}x}"
