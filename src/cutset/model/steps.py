"""Work that tells how far it is while it goes on: generators of events that return their result."""

from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any, TypeVar

Told = TypeVar("Told")
Result = TypeVar("Result")


def finished(steps: Generator[Told, None, Result], tell: Callable[[Told], Any] = lambda _: None) -> Result:
    """The result, once it is there."""
    with closing(steps):
        while True:
            try:
                event = next(steps)
            except StopIteration as end:
                result: Result = end.value
                return result
            tell(event)
