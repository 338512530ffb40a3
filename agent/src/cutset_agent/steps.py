"""One call through a hook, within a request: whether a fault is planned for it, what that does, what is reported."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import random
import time
from collections.abc import Iterator, Mapping
from typing import Any

from cutset_agent import reach, recording, reports, wire
from cutset_agent import request as requests
from cutset_agent.calls import (
    AfterCall,
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

    __slots__ = ("blocks", "by_code", "describe", "faults", "outcome", "response")

    def __init__(
        self,
        describe: Describe,
        faults: Mapping[str, MakeFault],
        outcome: OutcomeOf | None,
        response: ResponseOf | None,
        *,
        asynchronous: bool,
    ) -> None:
        self.blocks = not asynchronous  # its thread, while it waits
        self.describe = describe
        self.faults = faults
        self.by_code = {wire.fault_code(name): name for name in faults}
        self.outcome = outcome
        self.response = response


class HookStep:
    """One call through a hook, within a request."""

    __slots__ = (
        "call", "delay", "facts", "hook", "make", "name", "number", "parent_id", "payload", "request", "span_id",
        "started_ns", "token",
    )  # fmt: skip

    def __init__(self, hook: HookedFunction, request: requests.ServedRequest) -> None:
        self.hook = hook
        self.request = request
        self.parent_id = requests.parent_of_operation(request)
        self.span_id = requests.new_span_id()
        self.token = requests.begin_operation(self.span_id)
        self.call = HookedCall("")
        self.number = 0
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
                step.number = request.count(call.endpoint)
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


def _planned(step: HookStep, now: float) -> Iterator[wire.WireFault]:
    target = wire.WireTarget(requests.settings.service, step.call.endpoint)
    return (fault for part in step.request.plan if part.expires >= now for fault in part.faults_at(target))


def _choose_fault(step: HookStep, now: float, args: tuple[Any, ...]) -> None:
    for fault in _planned(step, now):
        if (fault.occurrence and fault.occurrence != step.number) or 0 < fault.attempts < step.number:
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
    call, hook = step.call, step.hook
    added = _added.get(call.endpoint.split("/")[1], {})
    if fault.kind == "L":
        codes = {**{wire.fault_code(name): name for name in added}, **hook.by_code}
        name = codes.get(fault.value, "")
    else:
        name = f"status-{fault.value}" if fault.kind == "A" else ""
    make = hook.faults.get(name) or added.get(name)
    if make is None:
        step.facts["not_fired"] = f"{fault} is no fault of this endpoint"
    elif call.timeout is None and catalogue().get(name, {}).get("needs_timeout"):
        step.facts["not_fired"] = f"{name}: the call site has no timeout"
    elif not step.make:
        step.name, step.make = name, make
        if name == "no-answer":
            step.mark_fired(name)
            step.delay = FOR_GOOD if call.timeout is None else call.timeout


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


def end(step: HookStep, result: Any, error: BaseException | None) -> None:
    ended_ns = time.time_ns()
    requests.end_operation(step.token)
    _asked("report", step.call, _report, step, result, error, ended_ns)


def _report(step: HookStep, result: Any, error: BaseException | None, ended_ns: int) -> None:
    call, request, hook = step.call, step.request, step.hook
    facts = {"endpoint": call.endpoint, "occurrence": str(step.number), **(call.facts or {}), **step.facts}
    if step.name and "fault" not in facts:
        facts.setdefault("not_fired", f"{step.name} makes no sense for this call")
    if call.timeout is not None:
        facts["timeout"] = f"{call.timeout:g}"
    if step.payload is not None:
        facts["payload"] = hashlib.sha256(step.payload).hexdigest()[:16]
    if error is None and hook.outcome is not None:
        facts.update(_asked("outcome", call, hook.outcome, result) or {})
    span = reports.ReportedSpan(
        requests.settings.service,
        call.endpoint,
        _kind(call.endpoint),
        (request.trace_id, step.span_id, step.parent_id),
        step.started_ns,
        ended_ns,
        error is not None,
        {f"cutset.{name}": value for name, value in facts.items()},
    )
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
