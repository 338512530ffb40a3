"""How commands print: results on standard output, everything else on standard error."""

import json
from collections.abc import Iterable

from rich.console import Console


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
