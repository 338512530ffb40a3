"""What a hook file is made of: `wrap` puts a describing and faulting layer around one function of a library.

    def describe(args, kwargs):                                   # which call is this? None: none of interest
        return HookedCall(f"cache/redis/{args[1].lower()}", timeout=…, payload=lambda: …)

    FAULTS = {"connection-refused": lambda call, args, kwargs: redis.exceptions.ConnectionError("Error 111 …")}

    wrap(redis.Redis, "execute_command", describe, FAULTS)

Outside of a request that carries a plan (or is recorded) a wrapped function costs one look at a ContextVar. Nothing of
ours may break the host: an error in `describe`, in a fault or in a report is counted in `reports.errors`, and the call
is made as if nothing was there.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from cutset_agent import request as requests
from cutset_agent import steps
from cutset_agent.calls import Answering, Describe, InjectedAnswer, MakeFault, OutcomeOf, ResponseOf


def wrap(
    owner: Any,
    name: str,
    describe: Describe,
    faults: Mapping[str, MakeFault],
    *,
    asynchronous: bool = False,  # the function's result is to be awaited
    outcome: OutcomeOf | None = None,
    response: ResponseOf | None = None,
    answering: Answering | None = None,
) -> None:
    """Hooks `owner.name`, a function, method or coroutine function. A second time changes nothing."""
    found = inspect.getattr_static(owner, name)
    bound = type(found) if isinstance(found, (staticmethod, classmethod)) else None
    original = found.__func__ if bound else found
    if hasattr(original, "_cutset_hook"):
        return
    hook = steps.HookedFunction(describe, faults, outcome, response, answering, asynchronous=asynchronous)
    wrapper = _asynchronous(original, hook) if asynchronous else _synchronous(original, hook)
    functools.update_wrapper(wrapper, original)
    wrapper._cutset_hook = hook  # type: ignore[attr-defined]  # noqa: SLF001
    setattr(owner, name, bound(wrapper) if bound else wrapper)


def _synchronous(original: Callable[..., Any], hook: steps.HookedFunction) -> Callable[..., Any]:
    current = requests.current

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        request = current()
        step = None if request is None else steps.begin(hook, request, args, kwargs)
        if step is None:
            return original(*args, **kwargs)
        try:
            if step.delay:
                steps.wait(step)
            action = steps.action(step, args, kwargs)
            if isinstance(action, (BaseException, InjectedAnswer)):
                result = steps.instead(step, action)
            else:
                result = original(*args, **kwargs)
                if action is not None:
                    result = steps.read(steps.afterwards(step, action, result))
        except BaseException as error:
            steps.end(step, None, error)
            raise
        steps.end(step, result, None)
        return result

    return wrapper


def _asynchronous(original: Callable[..., Any], hook: steps.HookedFunction) -> Callable[..., Any]:
    current = requests.current

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        request = current()
        step = None if request is None else steps.begin(hook, request, args, kwargs)
        if step is None:
            return await original(*args, **kwargs)
        try:
            if step.delay:
                await steps.wait_asynchronously(step)
            action = await steps.settled(step, steps.action(step, args, kwargs), None)
            if isinstance(action, (BaseException, InjectedAnswer)):
                result = steps.instead(step, action)
            else:
                result = await original(*args, **kwargs)
                if action is not None:
                    result = steps.read(await steps.settled(step, steps.afterwards(step, action, result), result))
        except BaseException as error:
            steps.end(step, None, error)
            raise
        steps.end(step, result, None)
        return result

    return wrapper
