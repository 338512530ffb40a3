"""What a hook file is made of: `wrap` puts a describing and faulting layer around one function of a library.

    def describe(args, kwargs):                                   # which call is this? None: none of interest
        return Call(f"cache/redis/{args[1].lower()}", timeout=…, payload=lambda: …)

    FAULTS = {"connection-refused": lambda call, args, kwargs: redis.exceptions.ConnectionError("Error 111 …")}

    wrap(redis.Redis, "execute_command", describe, FAULTS)

Outside of a request that carries a plan (or is recorded) a wrapped function costs one look at a ContextVar. Nothing of
ours may break the host: an error in `describe`, in a fault or in a report is counted in `errors`, and the call is made
as if nothing was there.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import inspect
import json
import random
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from typing import Any, Union

from cutset_agent import recording, reports, wire
from cutset_agent import request as requests
from cutset_agent.reports import count_error, errors

__all__ = ["Action", "AfterCall", "Answer", "Call", "Changed", "Describe", "MakeFault", "add_faults", "catalogue",
           "count_error", "errors", "wrap"]  # fmt: skip

FOR_GOOD = float("inf")

_chance = random.SystemRandom()  # the host's own random numbers stay as they are


class Call:
    """One call at a call site."""

    __slots__ = ("endpoint", "facts", "payload", "timeout")

    def __init__(
        self,
        endpoint: str,  # component/framework/method
        timeout: float | None = None,  # in seconds; None: the call site has none
        payload: Callable[[], bytes | str | None] | None = None,  # called only for a digest or a recording
        facts: dict[str, str] | None = None,  # for the report: {"verb": "INSERT"}
    ) -> None:
        self.endpoint = endpoint
        self.facts = facts
        self.timeout = timeout
        self.payload = payload


class Answer:
    """A fault that answers in place of the call."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


class AfterCall:
    """A fault that lets the call happen and raises then: the answer is lost."""

    __slots__ = ("exception",)

    def __init__(self, exception: BaseException) -> None:
        self.exception = exception


class Changed:
    """A fault that lets the call happen and changes its answer."""

    __slots__ = ("change",)

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.change = change  # in asynchronous hooks possibly a coroutine function


Action = Union[BaseException, Answer, AfterCall, Changed]  # noqa: UP007 -- Python 3.9
Describe = Callable[["tuple[Any, ...]", "dict[str, Any]"], "Call | None"]  # `args` begin with self
# None: this fault makes no sense for this call. In asynchronous hooks it may be a coroutine function.
MakeFault = Callable[[Call, "tuple[Any, ...]", "dict[str, Any]"], "Action | Awaitable[Action | None] | None"]
Outcome = Callable[[Any], "dict[str, str]"]  # small facts of a result, for the report: {"rows": "1"}
Response = Callable[[Any], "bytes | str | None"]  # a result's payload, for the recording

_added: dict[str, dict[str, MakeFault]] = {}  # faults of third parties, by framework


class _Hook:
    """One wrapped function."""

    __slots__ = ("by_code", "describe", "faults", "outcome", "response")

    def __init__(
        self, describe: Describe, faults: Mapping[str, MakeFault], outcome: Outcome | None, response: Response | None
    ) -> None:
        self.describe = describe
        self.faults = faults
        self.by_code = {wire.fault_code(name): name for name in faults}
        self.outcome = outcome
        self.response = response


class _Step:
    """One call through a hook, within a request."""

    __slots__ = (
        "call", "delay", "facts", "hook", "make", "name", "number", "parent_id", "payload", "request", "span_id",
        "started_ns", "token",
    )  # fmt: skip

    def __init__(self, hook: _Hook, request: requests.Request) -> None:
        self.hook = hook
        self.request = request
        self.parent_id = requests.parent_of_operation(request)
        self.span_id = requests.new_span_id()
        self.token = requests.begin_operation(self.span_id)
        self.call = Call("")
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


def wrap(
    owner: Any,
    name: str,
    describe: Describe,
    faults: Mapping[str, MakeFault],
    *,
    asynchronous: bool = False,  # the function's result is to be awaited
    outcome: Outcome | None = None,
    response: Response | None = None,
) -> None:
    """Hooks `owner.name`, a function, method or coroutine function. A second time changes nothing."""
    found = inspect.getattr_static(owner, name)
    bound = type(found) if isinstance(found, (staticmethod, classmethod)) else None
    original = found.__func__ if bound else found
    if hasattr(original, "_cutset_hook"):
        return
    hook = _Hook(describe, faults, outcome, response)
    wrapper = _asynchronous(original, hook) if asynchronous else _synchronous(original, hook)
    functools.update_wrapper(wrapper, original)
    wrapper._cutset_hook = hook  # type: ignore[attr-defined]  # noqa: SLF001
    setattr(owner, name, bound(wrapper) if bound else wrapper)


def add_faults(framework: str, faults: Mapping[str, MakeFault]) -> None:
    """Faults for the endpoints of a framework, beside those of its hook."""
    _added.setdefault(framework, {}).update(faults)


@functools.cache
def catalogue() -> dict[str, dict[str, Any]]:
    """What is known of each fault, by its name."""
    text = files("cutset_agent").joinpath("fault_catalogue.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _synchronous(original: Callable[..., Any], hook: _Hook) -> Callable[..., Any]:
    current = requests.current

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        request = current()
        step = None if request is None else _begin(hook, request, args, kwargs)
        if step is None:
            return original(*args, **kwargs)
        try:
            if step.delay:
                _wait(step.delay)
            action = _action(step, args, kwargs)
            if isinstance(action, (BaseException, Answer)):
                result = _instead(step, action)
            else:
                result = original(*args, **kwargs)
                if action is not None:
                    result = _afterwards(step, action, result)
        except BaseException as error:
            _end(step, None, error)
            raise
        _end(step, result, None)
        return result

    return wrapper


def _asynchronous(original: Callable[..., Any], hook: _Hook) -> Callable[..., Any]:
    current = requests.current

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        request = current()
        step = None if request is None else _begin(hook, request, args, kwargs)
        if step is None:
            return await original(*args, **kwargs)
        try:
            if step.delay:
                await _wait_asynchronously(step.delay)
            action = await _settled(step, _action(step, args, kwargs), None)
            if isinstance(action, (BaseException, Answer)):
                result = _instead(step, action)
            else:
                result = await original(*args, **kwargs)
                if action is not None:
                    result = await _settled(step, _afterwards(step, action, result), result)
        except BaseException as error:
            _end(step, None, error)
            raise
        _end(step, result, None)
        return result

    return wrapper


def _begin(hook: _Hook, request: requests.Request, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Step | None:
    """Never raises; None if the call is to be made as if nothing was there."""
    now = time.time()
    if not recording.is_on() and all(part.expires < now for part in request.plan):
        return None
    step = _Step(hook, request)
    try:
        call = hook.describe(args, kwargs)
        if call is not None:
            step.call = call
            step.number = request.count(call.endpoint)
            if call.payload is not None:  # before the call, which may use up what it sends
                step.payload = _as_bytes(_asked("payload", call, call.payload))
            _choose_fault(step, now)
            return step
    except Exception as error:  # noqa: BLE001 -- the host's call matters more
        count_error("describe", error)
    requests.end_operation(step.token)
    return None


def _as_bytes(payload: bytes | str | None) -> bytes | None:
    return payload.encode("utf-8", "surrogateescape") if isinstance(payload, str) else payload


def _choose_fault(step: _Step, now: float) -> None:
    target = wire.Target(requests.settings.service, step.call.endpoint)
    for fault in (fault for part in step.request.plan if part.expires >= now for fault in part.faults_at(target)):
        if (fault.occurrence and fault.occurrence != step.number) or 0 < fault.attempts < step.number:
            continue
        if fault.percent < 100 and _chance.random() * 100 >= fault.percent:
            continue
        if fault.kind == "D":
            _choose_delay(step, fault.value)
        else:
            _choose_by_name(step, fault)


def _choose_delay(step: _Step, milliseconds: int) -> None:
    step.mark_fired(f"delay({milliseconds}ms)")
    seconds, timeout = milliseconds / 1000, step.call.timeout
    if timeout is None or seconds < timeout:
        step.delay = max(step.delay, seconds)
        return
    # As when the other side is that slow: the caller's library gives up at its timeout.
    step.name = "no-answer" if "no-answer" in step.hook.faults else "timeout"
    step.make = step.hook.faults.get(step.name)
    step.delay = timeout if step.make else seconds


def _choose_by_name(step: _Step, fault: wire.WireFault) -> None:
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


def _wait(seconds: float) -> None:
    if seconds == FOR_GOOD:
        threading.Event().wait()
    time.sleep(seconds)


async def _wait_asynchronously(seconds: float) -> None:
    # Not a bare future or event: nobody would hold it, and the task with it would be garbage.
    while seconds == FOR_GOOD:  # noqa: ASYNC110
        await asyncio.sleep(3600)
    await asyncio.sleep(seconds)


def _action(step: _Step, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if step.make is None:
        return None
    try:
        return step.make(step.call, args, kwargs)
    except Exception as error:  # noqa: BLE001 -- the host's call matters more
        _could_not_fire(step, error)
        return None


def _could_not_fire(step: _Step, error: Exception) -> None:
    count_error(f"fault {step.name} at {step.call.endpoint}", error)
    step.facts.pop("fault", None)
    step.facts["not_fired"] = f"{step.name} raised {error!r}"[:300]


async def _settled(step: _Step, value: Any, otherwise: Any) -> Any:
    if not inspect.isawaitable(value):
        return value
    try:
        return await value
    except Exception as error:  # noqa: BLE001 -- the host's call matters more
        _could_not_fire(step, error)
        return otherwise


def _instead(step: _Step, action: BaseException | Answer) -> Any:
    if step.name != "no-answer":  # which fired when its wait began
        step.mark_fired(step.name)
    if isinstance(action, Answer):
        return action.value
    raise action


def _afterwards(step: _Step, action: AfterCall | Changed, result: Any) -> Any:
    step.mark_fired(step.name)
    if isinstance(action, AfterCall):
        raise action.exception
    try:
        return action.change(result)
    except Exception as error:  # noqa: BLE001 -- the host's call matters more
        _could_not_fire(step, error)
        return result


def _end(step: _Step, result: Any, error: BaseException | None) -> None:
    ended_ns = time.time_ns()
    requests.end_operation(step.token)
    _asked("report", step.call, _report, step, result, error, ended_ns)


def _report(step: _Step, result: Any, error: BaseException | None, ended_ns: int) -> None:
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
    span = reports.Span(
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


def _asked(what: str, call: Call, function: Any, *args: Any) -> Any:
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
