"""A check-up in the terminal, and as a document."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.markup import escape

from cutset.model.checkup import Checkup, LineState
from cutset.model.wording import count

_SIGNS = {LineState.WELL: "[green]+[/]", LineState.NOTE: "[yellow]![/]", LineState.WRONG: "[red]x[/]"}


def to_lines(found: Checkup, then: str = "cutset explore") -> Iterator[str]:
    """`then`: what to do next if all is well."""
    width = max(len(check.name) for check in found.checks)
    for check in found.checks:
        yield f"{_SIGNS[check.state]} [bold]{check.name:<{width}}[/]  {escape(check.text)}"
        if check.remedy:
            yield f"  {'':<{width}}  [dim]{escape(check.remedy)}[/]"
    wrong = len(found.wrong)
    yield f"[red]{count(wrong, 'thing')} wrong[/]" if wrong else f"[green]All is well[/]: go on with `{escape(then)}`"


def to_document(found: Checkup) -> dict[str, Any]:
    return {
        "well": not found.wrong,
        "export_interval": round(found.export_interval, 3),
        "checks": [asdict(check) for check in found.checks],
    }
