"""Which service the present code belongs to, where one process hosts several."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

_serving: ContextVar[str] = ContextVar("cutset_serving", default="")


class Serving:
    """A context manager, and a decorator of functions and coroutine functions: within it the service is this one."""

    __slots__ = ("service", "token")

    def __init__(self, service: str) -> None:
        self.service = service
        self.token: Token[str] | None = None

    def __enter__(self) -> None:
        if self.service:
            self.token = _serving.set(self.service)

    def __exit__(self, *_error: object) -> None:
        token, self.token = self.token, None
        if token is not None:
            try:
                _serving.reset(token)
            except ValueError:  # left in another context than it was entered, as a generator may
                _serving.set("")

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function!r} is a generator: make its server within `serving`, or name it there")

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with Serving(self.service):
                return function(*args, **kwargs)

        @functools.wraps(function)
        async def call_later(*args: Any, **kwargs: Any) -> Any:
            with Serving(self.service):
                return await function(*args, **kwargs)

        return call_later if inspect.iscoroutinefunction(function) else call


def present() -> str:
    """Empty: the one that the process is called by."""
    return _serving.get()
