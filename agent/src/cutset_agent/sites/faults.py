"""The faults of a run: what they do, and who may do it. `runtime` loads it at a site that may fail.

An effect is an expression that makes an exception (`sqlalchemy.exc.OperationalError('x', {}, Exception('y'))`; modules
are imported as needed), or hang(), delay(seconds), crash(), return(literal). An awaited call hangs or is delayed
without its event loop, if that is asyncio's; a coroutine function that is called to be awaited later fails later.
"""
# pathlib is one of the imports that the workload should do by itself.
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
import time
from operator import methodcaller
from types import CoroutineType, FunctionType, MethodType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from cutset_agent.sites.plan import ArmedEffect
    from cutset_agent.sites.runtime import Hook

    Visited = tuple[int, int, str, int]  # site, occurrence, context, occurrence in it

FOREVER = 1e8  # seconds: what hang() waits; some clocks take no more
CO_COROUTINE = 0x80  # as in `inspect`


class SiteStandIn:
    """Takes the place of what is called, awaited or, for a `raise`, of False; decides when it is used.

    A function that raised would show in tracebacks. So `__call__` and `__bool__` are properties: their value, which
    Python then calls, is the original, or something that raises without being Python code.
    """

    __slots__ = ("awaited", "faults", "hook", "target", "visit")

    def __init__(self, hook: Hook, visit: Visited, faults: Sequence[ArmedEffect], target: Any, awaited: bool) -> None:  # noqa: FBT001
        self.hook, self.visit = hook, visit
        self.faults = faults  # that may fire here, best first
        self.target, self.awaited = target, awaited

    @property
    def __call__(self) -> Any:
        what, value = _fire(self)
        target = self.target
        is_async = self.awaited or _is_coroutine_function(target)
        if what == "raise":
            # A coroutine that is started later fails later; one that is awaited here may as well fail here.
            return _function(_failing, value) if is_async and not self.awaited else _raiser(value)
        if what == "return":
            return _function(_returning if is_async else _same, value)
        if what == "delay" and is_async and _in_event_loop():
            return lambda *args, **kwargs: _after(value, target, args, kwargs)
        if what == "delay":
            time.sleep(value)
        return target

    @property
    def __bool__(self) -> Any:
        what, value = _fire(self)
        if what == "raise":
            return _raiser(value)
        if what == "delay":
            time.sleep(value)
        return bool  # called without arguments, it is False

    def __await__(self) -> Iterator[Any]:
        what, value = _fire(self)
        target = self.target
        if what in ("raise", "return") and type(target) is CoroutineType:
            target.close()  # a coroutine that nobody awaits would complain
        if what == "raise":
            return _raiser(value)  # type: ignore[no-any-return]
        if what == "return":
            return _returning(value).__await__()
        if what == "delay" and not _in_event_loop():
            time.sleep(value)
            value = 0
        return _after(value, None, (target,), {}).__await__()


def _fire(stand_in: SiteStandIn) -> tuple[str, Any]:
    """What to do: ("raise", exception), ("return", value), ("delay", seconds), or ("", 0) if it is nobody's turn."""
    hook = stand_in.hook
    handled = sys.exc_info()[1]
    site = stand_in.visit[0]
    for leaves, effect in stand_in.faults:
        if leaves in hook.spent or (site, effect) in hook.unmade:
            continue
        try:
            what, value = _parse_effect(effect)
            is_ours = _claim(stand_in, leaves, effect)
        except Exception as error:  # noqa: BLE001 - any, since the effect may name anybody's class
            hook.report(f"site {site}: `{effect}` cannot be made: {error!r}")
            hook.unmade.add((site, effect))
            continue
        hook.spent.add(leaves)
        if not is_ours:
            continue
        if what == "crash":
            os.kill(os.getpid(), 9)
        if what == "raise":
            value.__context__ = handled  # as `raise` would do
        return what, value
    return "", 0


def _claim(stand_in: SiteStandIn, leaves: str, effect: str) -> bool:
    hook = stand_in.hook
    try:
        file = os.open(os.path.join(hook.out, leaves), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        return False
    stack = []
    frame: Any = sys._getframe(1)  # noqa: SLF001
    while frame is not None:
        code = frame.f_code
        if os.path.dirname(code.co_filename) != os.path.dirname(__file__):
            stack.append(f"{code.co_filename}:{frame.f_lineno} in {code.co_name}")
        frame = frame.f_back
    site, occurrence, within, nth = stand_in.visit
    fault = {
        "site": site,
        "occurrence": occurrence,
        "effect": effect,
        "process": hook.number,
        "pid": os.getpid(),
        "thread": hook.name(),
        "within": within,
        "nth": nth,
        "logged": hook.logged[0],
        "printed": hook.printed(),
        "time": time.time(),
        "stack": stack[::-1],  # as in tracebacks: the innermost frame comes last
    }
    os.write(file, json.dumps(fault).encode())
    os.close(file)
    return True


def _parse_effect(effect: str) -> tuple[str, Any]:
    word, _, argument = effect.partition("(")
    if word in ("hang", "crash"):
        return ("delay", FOREVER) if word == "hang" else ("crash", None)
    if word in ("delay", "return"):
        return word, ast.literal_eval("(" + argument)
    tree = ast.parse(effect, mode="eval")
    scope: dict[str, Any] = {}
    for node in ast.walk(tree):
        names: list[str] = []
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            names.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and not hasattr(builtins, inner.id):
            scope[inner.id] = _import_as_needed([inner.id, *names[::-1]])
    exception = eval(compile(tree, "<effect>", "eval"), scope)  # noqa: S307 - the plan is ours
    if isinstance(exception, type):
        exception = exception()
    if not isinstance(exception, BaseException):
        raise TypeError(f"{exception!r} is not an exception")
    return "raise", exception


def _import_as_needed(names: list[str]) -> Any:
    """The module of the first name, with those of the others that are modules inside of it."""
    path = names[0]
    module = found = __import__(path)
    for name in names[1:]:
        path += "." + name
        if not hasattr(found, name):
            __import__(path)
        found = getattr(found, name)
    return module


def _raiser(exception: BaseException) -> Any:
    """Raises when called or iterated, without a frame: a generator that has ended raises what is thrown at it."""
    ended = (None for _ in ())
    next(ended, None)

    class Raiser:
        throw = ended.throw
        __call__ = __next__ = property(methodcaller("throw", exception))

        def __iter__(self) -> Any:
            return self

    return Raiser()


def _is_coroutine_function(target: Any) -> bool:
    # By exact types: proxies and mocks answer whatever they are asked.
    function = target.__func__ if type(target) is MethodType else target
    return type(function) is FunctionType and bool(function.__code__.co_flags & CO_COROUTINE)


def _in_event_loop() -> bool:
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None  # noqa: SLF001


def _function(result: Callable[[Any], Any], value: Any) -> Callable[..., Any]:
    return lambda *_, **__: result(value)


def _same(value: Any) -> Any:
    return value


async def _returning(value: Any) -> Any:
    return value


async def _failing(exception: BaseException) -> Any:
    raise exception


async def _after(seconds: float, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function's coroutine, or without function the awaitable that is the argument, gives after a while."""
    if seconds:
        await sys.modules["asyncio"].sleep(seconds)
    return await (args[0] if function is None else function(*args, **kwargs))
