"""Calling contexts: which functions of the analysed files are on the stack.

They are walked at each visit that is recorded, and most of what that costs is here: some 0.07 microseconds for each
frame.
"""
# pathlib is one of the imports that the workload should do by itself.
# ruff: noqa: PTH114, PTH117, PTH118, PTH119

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

CONTEXT_FUNCTIONS = 8  # more would tell no more, but take longer
CONTEXT_FRAMES = range(60)  # that are looked at, of others too: further down are test runners and servers
INLINED = ("<listcomp>", "<setcomp>", "<dictcomp>", "<module>")  # the first three have no frame since Python 3.12


class AnalysedFiles(dict):  # type: ignore[type-arg]
    """By the name that code has for its file: the last part of its path; "" if it is not analysed."""

    def __init__(self, paths: list[str]) -> None:
        self.numbers = {path: number for number, path in enumerate(paths, 1)}
        self.folders: dict[str, str] = {}  # by the name that a loader gave: its real path

    def __missing__(self, name: str) -> str:
        path = self.real_path(name)
        self[name] = found = os.path.basename(path) if path in self.numbers else ""
        return found

    def number(self, name: str) -> int:
        """Its place in the plan, from 1 on; 0 if it is not analysed."""
        return self.numbers.get(self.real_path(name), 0)

    def real_path(self, path: str) -> str:
        if os.path.islink(path):
            return os.path.realpath(path)
        folder, name = os.path.split(path)
        real = self.folders.get(folder)
        if real is None:
            real = os.path.realpath(folder)
            if os.path.isabs(folder):
                self.folders[folder] = real
        return os.path.join(real, name)


def context_finder(analysed: AnalysedFiles) -> Callable[[Any], tuple[str, ...]]:
    """Of a frame: the functions that make its context, nearest first, as in `queue.py:push`."""
    words_of: dict[str, dict[str, str] | None] = {}  # by file and function; plain dicts, which are quicker

    def context_of(innermost: Any) -> tuple[str, ...]:
        context: list[str] = []
        last = ""
        frame = innermost
        try:
            for _ in CONTEXT_FRAMES:
                code = frame.f_code
                words = words_of[code.co_filename]
                if words is not None:
                    word = words[code.co_name]
                    if word and word != last:
                        context.append(word)
                        if len(context) == CONTEXT_FUNCTIONS:
                            break
                        last = word
                frame = frame.f_back
                if frame is None:
                    break
        except KeyError:
            learn(code)
            return context_of(innermost)
        return tuple(context)

    def learn(code: Any) -> None:
        file = analysed[code.co_filename]
        words = words_of.setdefault(code.co_filename, {} if file else None)
        if words is not None:
            words[code.co_name] = "" if code.co_name in INLINED else f"{file}:{code.co_name}"

    return context_of
