"""How templates of recorded flows are shown: each request with its variables marked, and the reasons."""

import json
from collections import defaultdict
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from cutset.workload.templates.template import Step, Template, marked

MAX_BODY = 600  # characters shown
_BLANK = r"#\{[^}]*\}"


def print_templates(templates: Sequence[Template], *, constants: bool) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    alike: dict[tuple[str, ...], list[Template]] = defaultdict(list)
    for template in templates:
        alike[tuple(step.name for step in template.steps)].append(template)
    for same in alike.values():
        others = f", and {len(same) - 1} more like it" if len(same) > 1 else ""
        console.print(Text(f"flow {same[0].id}{others}", "bold"))
        for number, step in enumerate(same[0].steps, start=1):
            _print_step(console, number, step, constants=constants)
        console.print()
    requests = sum(len(template.steps) for template in templates)
    console.print(f"requests: {requests:,}, flows: {len(templates):,}, kinds of flows: {len(alike):,}")


def _print_step(console: Console, number: int, step: Step, *, constants: bool) -> None:
    message = marked(step)
    body = message.body.decode(errors="replace")
    lines = [f"{number:>3}  {step.exchange.method} {message.path}  -> {step.exchange.status}"]
    if body and body.isprintable():
        lines.append(f"     {body if len(body) <= MAX_BODY else body[:MAX_BODY] + '…'}")
    for line in lines:
        text = Text(line)
        text.highlight_regex(_BLANK, "cyan")
        console.print(text)
    secrets = [variable for variable in step.constants if variable.kind == "secret"]
    others = [variable for variable in step.constants if variable.kind != "secret"]
    for variable in (*step.blanks, *secrets, *(others if constants else ())):
        console.print(Text(f"       {variable.place:<28} {variable.kind:<8} {variable.why}", "dim"))


def templates_as_json(templates: Sequence[Template]) -> str:
    def variables(step: Step) -> list[dict[str, object]]:
        return [
            {"place": each.place, "kind": each.kind, "why": each.why}
            | ({"from_step": each.step + 1, "source": each.source} if each.kind == "chained" else {})
            for each in (*step.blanks, *step.constants)
        ]

    flows = [
        {
            "id": template.id,
            "steps": [
                {
                    "request": step.name,
                    "path": (shown := marked(step)).path,
                    "body": shown.body.decode(errors="replace"),
                    "status": step.exchange.status,
                    "variables": variables(step),
                }
                for step in template.steps
            ],
        }
        for template in templates
    ]
    return json.dumps(flows, indent=1)
