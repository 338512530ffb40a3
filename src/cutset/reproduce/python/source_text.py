"""Source files of other people: their text and their syntax tree, whatever they are like."""

import ast
import sys
import threading
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cutset.reproduce.python.syntax import Skipped

_reading = threading.RLock()


def read_text(path: Path, skipped: list[Skipped]) -> str | None:
    try:
        with tokenize.open(path) as file:  # heeds the coding cookie
            return file.read()
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        skipped.append(Skipped(str(path), f"{type(error).__name__}: {error}"))
        return None


def parse(text: str, path: Path, skipped: list[Skipped]) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes in other people's code
            return ast.parse(text, str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        skipped.append(Skipped(str(path), f"{type(error).__name__}: {error}"))
        return None


@contextmanager
def deep_recursion() -> Iterator[None]:
    """What the parser takes is read: an expression of 2,000 terms is as many levels, at several calls each.

    One at a time: the limit is the process's, and CPython's parser fails if it changes in another thread meanwhile.
    """
    with _reading:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, 30_000))
        try:
            yield
        finally:
            sys.setrecursionlimit(before)
