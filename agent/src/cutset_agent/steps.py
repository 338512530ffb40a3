"""One call through a hook, within a request: whether a fault is planned for it, what that does, what is reported."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import random
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cutset_agent import reach, recording, reports, wire
from cutset_agent import request as requests
from cutset_agent.calls import (
    AfterCall,
    Answering,
    ChangedAnswer,
    Describe,
    HookedCall,
    InjectedAnswer,
    MakeFault,
    OutcomeOf,
    ResponseOf,
    SharedFault,
)
from cutset_agent.catalogue import catalogue
from cutset_agent.reports import count_error

FOR_GOOD = float("inf")
NAP_SECONDS = 0.05  # how often a call that is made to wait looks whether its request has ended

_chance = random.SystemRandom()  # the host's own random numbers stay as they are
_added: dict[str, dict[str, MakeFault]] = {}  # faults of third parties, by framework


class HookedFunction:
    """One wrapped function."""

    __slots__ = ("answering", "blocks", "by_code", "describe", "faults", "outcome", "response")

    def __init__(
        self,
        describe: Describe,
        faults: Mapping[str, MakeFault],
        outcome: OutcomeOf | None,
        response: ResponseOf | None,
        answering: Answering | None = None,
        *,
        asynchronous: bool,
    ) -> None:
        self.blocks = not asynchronous  # its thread, while it waits
        self.describe = describe
        self.faults = faults
        self.by_code = {wire.fault_code(name): name for name in faults}
        self.outcome = outcome
        self.response = response
        self.answering = answering


class HookStep:
    """One call through a hook, within a request."""

    __slots__ = (
        "call", "delay", "facts", "hook", "make", "name", "number", "number_at_peer", "parent_id", "payload", "request",
        "service", "span_id", "started_ns", "token",
    )  # fmt: skip

    def __init__(self, hook: HookedFunction, request: requests.ServedRequest) -> None:
        self.hook = hook
        self.request = request
        self.service = requests.service()
        self.parent_id = requests.parent_of_operation(request)
        self.span_id = requests.new_span_id()
        self.token = requests.begin_operation(self.span_id)
        self.call = HookedCall("")
        self.number = 0  # of the call at its endpoint
        self.number_at_peer = 0  # and to its peer
        self.payload: bytes | None = None
        self.delay = 0.0  # seconds to wait before anything else
        self.name = ""  # of the fault to come
        self.make: MakeFault | None = None
        self.facts: dict[str, str] = {}
        self.started_ns = time.time_ns()

    def mark_fired(self, fault: str) -> None:
        before = self.facts.get("fault")
        self.facts["fault"] = f"{before}+{fault}" if before else fault


def add_faults(framework: str, faults: Mapping[str, MakeFault]) -> None:
    """Faults for the endpoints of a framework, beside those of its hook."""
    _added.setdefault(framework, {}).update(faults)


def begin(
    hook: HookedFunction, request: requests.ServedRequest, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> HookStep | None:
    """Never raises; None if the call is to be made as if nothing was there."""
    now = time.time()
    if not recording.is_on() and all(part.expires < now for part in request.plan):
        return None
    step = HookStep(hook, request)
    try:
        call = hook.describe(args, kwargs)
        if call is not None:
            step.call = call
            if refusal := request.refusal() if request.plan else "":
                # It may be the work of others, and is no call of the request: it is told of, and not counted.
                step.facts["not_fired"] = refusal
                if any(_planned(step, now)):
                    return step
            else:
                step.number, step.number_at_peer = request.count(call.endpoint, call.peer)
                if call.payload is not None:  # before the call, which may use up what it sends
                    step.payload = _as_bytes(_asked("payload", call, call.payload))
                _choose_fault(step, now, args)
                return step
    except Exception as error:  # noqa: BLE001 -- the host's call matters more
        count_error("describe", error)
    requests.end_operation(step.token)
    return None


def _as_bytes(payload: bytes | str | None) -> bytes | None:
    return payload.encode("utf-8", "surrogateescape") if isinstance(payload, str) else payload


def _planned(step: HookStep, now: float) -> Iterator[tuple[wire.WireFault, int]]:
    """Each with the number that the call has for it. What is said of the peer counts before what is said of all."""
    parts = [part for part in step.request.plan if part.expires >= now]
    service, call = step.service, step.call
    families = set()  # delays, and all others
    targets = [(wire.WireTarget(service, call.endpoint, call.peer), step.number_at_peer)] if call.peer else []
    for target, number in (*targets, (wire.WireTarget(service, call.endpoint), step.number)):
        found = [fault for part in parts for fault in part.faults_at(target) if (fault.kind == "D") not in families]
        families |= {fault.kind == "D" for fault in found}
        yield from ((fault, number) for fault in found)


def _choose_fault(step: HookStep, now: float, args: tuple[Any, ...]) -> None:
    for fault, number in _planned(step, now):
        if (fault.occurrence and fault.occurrence != number) or 0 < fault.attempts < number:
            continue
        if fault.percent < 100 and _chance.random() * 100 >= fault.percent:
            continue
        if fault.kind == "D":
            _choose_delay(step, fault.value)
        else:
            _choose_by_name(step, fault)
    if not requests.settings.uncontained:
        _refuse_uncontained(step, args)


def _refuse_uncontained(step: HookStep, args: tuple[Any, ...]) -> None:
    """What would reach others than the request, unless whoever started this service has agreed to that."""
    why = ""
    if isinstance(step.make, SharedFault) and not step.make.is_own(args):
        why = f"{step.name} is not contained: {step.make.why}"
    elif step.delay and step.hook.blocks and reach.blocks_loop():
        why = "waiting here would stop the event loop for everybody"
    if why:
        step.delay, step.name, step.make = 0.0, "", None
        step.facts.pop("fault", None)
        step.facts["not_fired"] = why


def _choose_delay(step: HookStep, milliseconds: int) -> None:
    step.mark_fired(f"delay({milliseconds}ms)")
    seconds, timeout = milliseconds / 1000, step.call.timeout
    if timeout is None or seconds < timeout:
        step.delay = max(step.delay, seconds)
        return
    # As when the other side is that slow: the caller's library gives up at its timeout.
    step.name = "no-answer" if "no-answer" in step.hook.faults else "timeout"
    step.make = step.hook.faults.get(step.name)
    step.delay = timeout if step.make else seconds


def _choose_by_name(step: HookStep, fault: wire.WireFault) -> None:
    call = step.call
    name, make = _found(step, fault)
    if make is None:
        step.facts["not_fired"] = f"{name or fault} is no fault of this endpoint"
    elif call.timeout is None and catalogue().get(name, {}).get("needs_timeout"):
        step.facts["not_fired"] = f"{name}: the call site has no timeout"
    elif step.make:
        step.facts["not_fired"] = f"{name}: {step.name} comes before it"
    else:
        step.name, step.make = name, make
        if name == "no-answer":
            step.mark_fired(name)
            step.delay = FOR_GOOD if call.timeout is None else call.timeout


def _found(step: HookStep, fault: wire.WireFault) -> tuple[str, MakeFault | None]:
    """Its name, as far as it is known, and what makes it."""
    hook, added = step.hook, _added.get(step.call.endpoint.split("/")[1], {})
    if fault.kind == "L":
        name = hook.by_code.get(fault.value) or _by_code(fault.value, added) or _by_code(fault.value, catalogue())
    elif fault.kind == "B":
        name = f"{wire.SPOILT[fault.value - 1]}-body"
    else:
        name = f"{'status' if fault.kind == 'A' else 'grpc'}-{fault.value}"
        if hook.answering is not None:
            return name, hook.answering(fault.kind, fault.value, fault.text)
    return name, hook.faults.get(name) or added.get(name)


def _by_code(code: int, names: Iterable[str]) -> str:
    return next((name for name in names if wire.fault_code(name) == code), "")


def wait(step: HookStep) -> None:
    for seconds in _naps(step):
        time.sleep(seconds)


async def wait_asynchronously(step: HookStep) -> None:
    for seconds in _naps(step):
        await asyncio.sleep(seconds)


def _naps(step: HookStep) -> Iterator[float]:
    """Until the delay is over, or its fault must end, as others may wait for it: then the call is made after all."""
    until = time.monotonic() + step.delay
    while (left := until - time.monotonic()) > 0:
        yield min(left, NAP_SECONDS)
        plan = step.request.plan
        expired = not requests.settings.uncontained and all(part.expires < time.time() for part in plan)
        if expired or step.request.refusal():
            step.make = None
            return


def action(step: HookStep, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if step.make is None:
        return None
    try:
        return step.make(step.call, args, kwargs)
    except Exception as error:  # noqa: BLE001 -- the host's call matters more
        _could_not_fire(step, error)
        return None


def _could_not_fire(step: HookStep, error: Exception) -> None:
    count_error(f"fault {step.name} at {step.call.endpoint}", error)
    step.facts.pop("fault", None)
    step.facts["not_fired"] = f"{step.name} raised {error!r}"[:300]


async def settled(step: HookStep, value: Any, otherwise: Any) -> Any:
    if not inspect.isawaitable(value):
        return value
    try:
        return await value
    except Exception as error:  # noqa: BLE001 -- the host's call matters more
        _could_not_fire(step, error)
        return otherwise


def instead(step: HookStep, action: BaseException | InjectedAnswer) -> Any:
    if step.name != "no-answer":  # which fired when its wait began
        step.mark_fired(step.name)
    if isinstance(action, InjectedAnswer):
        return action.value
    raise action


def afterwards(step: HookStep, action: AfterCall | ChangedAnswer, result: Any) -> Any:
    step.mark_fired(step.name)
    if isinstance(action, AfterCall):
        raise action.exception
    try:
        return action.change(result)
    except Exception as error:  # noqa: BLE001 -- the host's call matters more
        _could_not_fire(step, error)
        return result


def read(changed: Any) -> Any:
    """What a changed answer is to its caller: an error, if what is left of it cannot be read."""
    if isinstance(changed, AfterCall):
        raise changed.exception
    return changed


def end(step: HookStep, result: Any, error: BaseException | None) -> None:
    ended_ns = time.time_ns()
    requests.end_operation(step.token)
    _asked("report", step.call, _report, step, result, error, ended_ns)


def _report(step: HookStep, result: Any, error: BaseException | None, ended_ns: int) -> None:
    call, request, hook = step.call, step.request, step.hook
    facts = {"endpoint": call.endpoint, "occurrence": str(step.number), **(call.facts or {}), **step.facts}
    if call.peer:
        facts.update(peer=call.peer, peer_occurrence=str(step.number_at_peer))
    if step.name and "fault" not in facts:
        facts.setdefault("not_fired", f"{step.name} makes no sense for this call")
    if call.timeout is not None:
        facts["timeout"] = f"{call.timeout:g}"
    if step.payload is not None:
        facts["payload"] = hashlib.sha256(step.payload).hexdigest()[:16]
    if error is None and hook.outcome is not None:
        facts.update(_asked("outcome", call, hook.outcome, result) or {})
    span = reports.ReportedSpan(
        step.service,
        call.endpoint,
        _kind(call.endpoint),
        (request.trace_id, step.span_id, step.parent_id),
        step.started_ns,
        ended_ns,
        error is not None,
        {f"cutset.{name}": value for name, value in facts.items()},
    )
    if step.number:
        request.tell()
    reports.report(span)
    if recording.is_on():
        answered = error is None and hook.response is not None
        response = _asked("response", call, hook.response, result) if answered else None
        recording.operation(request.operations, span, step.payload, _as_bytes(response))


def _asked(what: str, call: HookedCall, function: Any, *args: Any) -> Any:
    """What a function of the hook says, None if it fails."""
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001 -- the host's call matters more
        count_error(f"{what} of {call.endpoint}", error)
        return None


def _kind(endpoint: str) -> str:
    if not endpoint.startswith("mq/"):
        return "client"
    return "consumer" if endpoint.endswith("/handle") else "producer"
