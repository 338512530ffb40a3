"""Templates of recorded flows: each request with its variables marked, and the reasons."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from cutset.report.printable import printable
from cutset.workload.templates.template import Template, TemplateStep, marked

MAX_BODY = 600  # characters shown
_BLANK = re.compile(r"#\{[^}]*\}")


def to_lines(templates: Sequence[Template], *, constants: bool) -> Iterator[str]:
    """Flows of the same requests once; with `constants`, also why all else stays as it is."""
    alike: dict[tuple[str, ...], list[Template]] = defaultdict(list)
    for template in templates:
        alike[tuple(step.name for step in template.steps)].append(template)
    for same in alike.values():
        others = f", and {len(same) - 1} more like it" if len(same) > 1 else ""
        yield f"[bold]flow {same[0].id}{others}[/]"
        for number, step in enumerate(same[0].steps, start=1):
            yield from _step_lines(number, step, constants=constants)
        yield ""
    requests = sum(len(template.steps) for template in templates)
    yield f"requests: {requests:,}, flows: {len(templates):,}, kinds of flows: {len(alike):,}"


def to_document(templates: Sequence[Template]) -> list[dict[str, Any]]:
    return [{"id": template.id, "steps": [_step_document(step) for step in template.steps]} for template in templates]


def _step_lines(number: int, step: TemplateStep, *, constants: bool) -> Iterator[str]:
    message = marked(step)
    body = message.body.decode(errors="replace")
    yield f"{number:>3}  {_coloured(f'{step.exchange.method} {message.path}')}  -> {step.exchange.status}"
    if body and body.isprintable():
        yield f"     {_coloured(body if len(body) <= MAX_BODY else body[:MAX_BODY] + '…')}"
    secrets = [variable for variable in step.constants if variable.kind == "secret"]
    others = [variable for variable in step.constants if variable.kind != "secret"]
    for variable in (*step.blanks, *secrets, *(others if constants else ())):
        yield f"[dim]       {printable(f'{variable.place:<28} {variable.kind:<8} {variable.why}')}[/]"


def _coloured(text: str) -> str:
    return _BLANK.sub(r"[cyan]\g<0>[/]", printable(text))


def _step_document(step: TemplateStep) -> dict[str, Any]:
    shown = marked(step)
    return {
        "request": step.name,
        "path": shown.path,
        "body": shown.body.decode(errors="replace"),
        "status": step.exchange.status,
        "variables": [
            {"place": variable.place, "kind": variable.kind, "why": variable.why}
            | ({"from_step": variable.step + 1, "source": variable.source} if variable.kind == "chained" else {})
            for variable in (*step.blanks, *step.constants)
        ],
    }
