"""How commands print: results on standard output, all else on standard error, and nothing that drives a terminal.

What is shown comes from ledgers, traces, servers and files that others wrote. So no command prints but by the console
that is made here.
"""

import json
from collections.abc import Iterable
from typing import Any

import rich.console

from cutset.model.wording import visible


class Console(rich.console.Console):
    """Rich's, which would hand on the control characters of what it is given, and make a picture of `:key:`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(emoji=False, **options)

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(visible(each) if isinstance(each, str) else each for each in objects), **options)


def print_lines(lines: Iterable[str]) -> None:
    """Lines with rich's markup."""
    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        console.print(line)


def print_document(document: object) -> None:
    print(json.dumps(document, indent=2))


def notes() -> Console:
    """What is told beside the result, with rich's markup."""
    return Console(stderr=True, highlight=False, soft_wrap=True)
