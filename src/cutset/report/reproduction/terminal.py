"""A reproduced failure as one JSON document for machines, and as lines in a terminal for whoever is on call.

`format` changes when a field changes its meaning or goes away.
"""

import shlex
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.markup import escape

from cutset.model.reproduction.result import CaseSummary, CausalStep, FailureMessage, Reproduction, ReproductionResult
from cutset.model.reproduction.site import FiredFault, Site, SiteKind
from cutset.model.wording import count
from cutset.report.reproduction.causal_graph import kind_in_words

FORMAT = 1
AROUND = 3  # lines of source, before the place of a fault and after it
MARKED = 5  # lines of that place itself: a call may have a hundred, and its first ones tell which it is
MESSAGES_SHOWN, FRAMES_SHOWN, LETTERS_SHOWN = 12, 5, 160  # in a terminal
TEST = "test_reproduction.py"  # beside the script that replays
_ORDINALS = {1: "st", 2: "nd", 3: "rd"}


def to_document(result: ReproductionResult) -> dict[str, Any]:
    """For programs of others.

    format         1
    reproduced     whether any fault, or two, show the symptom
    rounds, seconds, summary    how far the search got
    remarks                     what minimising showed
    case           sources, command, oracle
    best           a reproduction, or null: the one to look at, after minimising if that was asked for
    first_found    a reproduction, or null: what the search came upon first; equal to `best` if nothing is simpler
    alternatives   reproductions at other sites; those with the same `group` have one root cause

    A reproduction has `faults`, `round`, `reason` (the oracle's), `folder`, `repeats`, `repeated`, `group`, `messages`.
    A fault has `what` (in words), `site` (its name), `kind`, `module`, `function`, `expression`, `ordinal`, `path`,
    `line`, `end_line`, `occurrence`, `effect`, `why`, `log_lines`, `process`, `thread`, `stack`, and
    `failure_log_line`: about where in the failure log it comes, or null.
    A message has `line`, `text`, `shown`, `absent`, and a `chain` of nodes with `kind`, `module`, `function`, `line`,
    `text`.
    """
    return {
        "format": FORMAT,
        "reproduced": result.best is not None,
        "rounds": result.rounds,
        "seconds": round(result.seconds, 3),
        "summary": result.summary,
        "remarks": list(result.remarks),
        "case": {
            "sources": list(result.case.sources),
            "command": list(result.case.command),
            "oracle": result.case.oracle,
        },
        "best": result.best and _reproduction(result.best),
        "first_found": result.first_found and _reproduction(result.first_found),
        "alternatives": [_reproduction(each) for each in result.alternatives],
    }


def _reproduction(found: Reproduction) -> dict[str, Any]:
    return {
        "faults": [_fault(fault) for fault in found.faults],
        "round": found.round,
        "reason": found.reason,
        "folder": str(found.folder),
        "repeats": found.repeats,
        "repeated": found.repeated,
        "group": found.group,
        "messages": [
            {
                "line": message.line,
                "text": message.text,
                "shown": message.shown,
                "absent": message.absent,
                "chain": [_node(node) for node in message.chain],
            }
            for message in found.messages
        ],
    }


def _fault(fault: FiredFault) -> dict[str, Any]:
    site = fault.site
    return {
        "what": what_happened(fault),
        "site": str(site),
        "kind": site.kind.value,
        "module": site.module,
        "function": site.function,
        "expression": site.expression,
        "ordinal": site.ordinal,
        "path": site.path,
        "line": site.line,
        "end_line": site.end_line,
        "occurrence": fault.occurrence,
        "effect": fault.effect,
        "why": fault.why,
        "log_lines": fault.log_lines,
        "process": fault.process,
        "thread": fault.thread,
        "stack": list(fault.stack),
        "failure_log_line": fault.failure_line,
    }


def _node(node: CausalStep) -> dict[str, Any]:
    return {
        "kind": node.kind.value,
        "module": node.module,
        "function": node.function,
        "line": node.line,
        "text": node.text,
    }


def what_happened(fault: FiredFault) -> str:
    """The fault as a sentence, without its place."""
    what = f"`{fault.site.expression}`"
    word, _, argument = fault.effect.removesuffix(")").partition("(")
    others = {
        "hang": f"{what} never comes back",
        "delay": f"{what} takes {argument} s longer",
        "crash": f"the process dies at {what}",
        "return": f"{what} returns `{argument}`, whatever it should",
    }
    if word in others:
        return others[word]
    if fault.site.kind is SiteKind.RAISE:
        return f"`raise {fault.site.expression}` is reached: `{fault.effect}`"
    return f"{'awaiting ' if fault.site.kind is SiteKind.AWAIT else ''}{what} raises `{fault.effect}`"


def circumstances(fault: FiredFault) -> str:
    process = "the workload's own process" if fault.process == 0 else f"child process {fault.process} of the workload"
    return f"the {ordinal(fault.occurrence)} time it gets there, in {fault.thread or 'an unnamed thread'} of {process}"


def moment(fault: FiredFault, log_lines: int) -> str:
    """`log_lines`: of the failure log."""
    after = f"after {count(fault.log_lines, 'log line')}" if fault.log_lines else "before anything was logged"
    at = fault.failure_line
    where = f"that is about line {at:,} of {log_lines:,}" if at else "the place is not known"
    return f"{after}; in the failure log, {where}"


def evidence(found: Reproduction, result: ReproductionResult) -> list[str]:
    """Why it is believed, a sentence each."""
    shown = sum(message.shown for message in found.messages)
    again = f"tried again, the symptom showed {found.repeated} of {count(found.repeats, 'time')}"
    return [
        f"the oracle `{result.case.oracle}` holds: {found.reason}",
        again if found.repeats else "it was not tried again",
        f"{shown} of {len(found.messages)} messages that set the failure log apart from good runs show again",
        f"found in round {found.round} of {result.rounds}",
    ]


def simplification(result: ReproductionResult) -> list[str]:
    """What was found before it was made simpler, if it was; and what that showed."""
    first, best = result.first_found, result.best
    if first is None or best is None or first.faults == best.faults:
        return list(result.remarks)
    return [*(f"found first, in round {first.round}: {fault}" for fault in first.faults), *result.remarks]


def alternatives_by_group(result: ReproductionResult) -> list[tuple[str, list[Reproduction]]]:
    in_order = sorted(result.alternatives, key=lambda each: each.group)  # stable: the search's order within a group
    return [(group, list(found)) for group, found in groupby(in_order, key=lambda each: each.group)]


def advice(case: CaseSummary) -> list[str]:
    """What may help where nothing was found."""
    return [
        "more rounds: `--rounds`; with `--resume`, the search goes on where it ended",
        f"other code: `--source` named {', '.join(case.sources)}; the fault may be in a package that these call",
        "another log of the same failure, with more of what came before it, or at a more detailed level",
        "an oracle that asks for less: is the symptom bound to something that only production has?",
    ]


def excerpt(site: Site) -> list[tuple[int, str, bool]]:
    """Lines of source around a site, as they are now: number, text, whether it is the site. Empty if it is gone."""
    try:
        with tokenize.open(site.path) as file:
            lines = file.read().split("\n")
    except (OSError, SyntaxError, ValueError):
        return []
    end = min(site.end_line, site.line + MARKED - 1)
    numbers = range(max(1, site.line - AROUND), min(len(lines), end + AROUND) + 1)
    return [(number, lines[number - 1], site.line <= number <= end) for number in numbers]


def ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else _ORDINALS.get(number % 10, "th")
    return f"{number:,}{ending}"


def to_lines(result: ReproductionResult, *, files: Mapping[str, Path]) -> list[str]:
    """Lines with rich's markup. `files` are what was written, by a word for each; `replay` is the script."""
    lines = _found_lines(result.best, result) if result.best else _nothing_found(result)
    return [*lines, *_next_lines(files)]


def _nothing_found(result: ReproductionResult) -> Iterator[str]:
    yield f"[magenta]? Not reproduced[/]  {count(result.rounds, 'round')}, {result.seconds:,.0f} s"
    yield f"  {_shown(result.summary)}"
    yield "[bold]What may help[/]"
    yield from (f"  {escape(each)}" for each in advice(result.case))


def _found_lines(best: Reproduction, result: ReproductionResult) -> Iterator[str]:
    yield f"[red]✗ Reproduced[/]  {count(result.rounds, 'round')}, {result.seconds:,.0f} s"
    if len(best.faults) > 1:
        yield "[bold]Two faults together[/], the second on top of the first"
    for fault in best.faults:
        yield ""
        yield f"[bold]What[/]   {_shown(what_happened(fault))}"
        yield f"       {_shown(circumstances(fault))}"
        if fault.why:
            yield f"       [dim]why this was tried: {_shown(fault.why)}[/]"
        yield f"[bold]Where[/]  [cyan]{escape(fault.site.path)}:{fault.site.line}[/] in {escape(fault.site.function)}"
        for number, text, is_site in excerpt(fault.site):
            mark, style = ("▸", "bold") if is_site else (" ", "dim")
            yield f"       [{style}]{mark} {number:>5} │ {_shown(text)}[/]"
        yield from (f"       [dim]{_shown(frame)}[/]" for frame in fault.stack[-FRAMES_SHOWN:])
        yield f"[bold]When[/]   {_shown(moment(fault, result.case.log_lines))}"
    yield ""
    for number, sentence in enumerate(evidence(best, result)):
        yield f"{'       ' if number else '[bold]Why[/]    '}{_shown(sentence)}"
    yield ""
    yield from _message_lines(best.messages)
    yield from _other_lines(result)


def _message_lines(messages: Sequence[FailureMessage]) -> Iterator[str]:
    yield "[bold]How the log follows from it[/]"
    for message in messages[:MESSAGES_SHOWN]:
        mark = "[green]✓[/]" if message.shown else "[yellow]–[/]"
        where = "no longer logged" if message.absent else f"line {message.line}"
        yield f"  {mark} {where:<10}  {_shown(message.text)}"
        if not message.chain:
            yield "      [dim]no causal chain to it is known[/]"
        else:
            yield f"      [dim]{_shown(_chain_in_words(message.chain))}[/]"
    if (more := len(messages) - MESSAGES_SHOWN) > 0:
        yield f"    [dim]and {more:,} more[/]"


def _chain_in_words(chain: Sequence[CausalStep]) -> str:
    ends = [chain[0], chain[-1]] if len(chain) > 1 else [chain[0]]
    steps = [f"{kind_in_words(node.kind)} at {node.module}:{node.line}" for node in ends]
    return f" → {count(len(chain) - 2, 'step')} → ".join(steps) if len(chain) > 2 else " → ".join(steps)


def _other_lines(result: ReproductionResult) -> Iterator[str]:
    if simpler := simplification(result):
        yield "[bold]Simplified[/]"
        yield from (f"  {_shown(each)}" for each in simpler)
    for group, found in alternatives_by_group(result):
        yield f"[bold]Shows the same[/]  {_shown(group or 'other causes')}"
        for each in found:
            yield f"  {_shown(' and '.join(map(str, each.faults)))}  [dim]round {each.round}[/]"


def _next_lines(files: Mapping[str, Path]) -> Iterator[str]:
    if files:
        yield ""
    if script := files.get("replay"):
        yield f"[bold]Next[/]   [green]python {_in_shell(script)}[/]"
        yield f"       [green]pytest {_in_shell(script.with_name(TEST))}[/]  [dim]fails until it is fixed[/]"
    for name, path in files.items():
        if name != "replay":
            yield f"{escape(name):<6} [cyan]{escape(str(path))}[/]"


def _in_shell(path: Path) -> str:
    return escape(shlex.quote(str(path)))


def _shown(text: str) -> str:
    """On one line, without what a terminal would take for commands."""
    visible = "".join(letter if letter.isprintable() else " " for letter in text)
    return escape(visible if len(visible) <= LETTERS_SHOWN else f"{visible[: LETTERS_SHOWN - 1]}…")
