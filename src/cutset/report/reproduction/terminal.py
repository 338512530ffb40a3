"""A reproduced failure as lines in a terminal, for whoever is on call."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.markup import escape

from cutset.model.reproduction.result import CausalStep, FailureMessage, Grade, Reproduction, ReproductionResult
from cutset.model.wording import count
from cutset.report.reproduction.causal_graph import kind_in_words
from cutset.report.reproduction.words import (
    LESS_ALIKE,
    SIGNS,
    advice,
    any_of,
    circumstances,
    conclusion,
    difference,
    differing_lines,
    differing_lines_left_out,
    effort,
    equally_good,
    evidence,
    excerpt,
    grade_in_words,
    in_one_line,
    inferred,
    inferred_in_words,
    less_alike,
    moment,
    next_commands,
    repeats,
    simplification,
    what_happened,
)

MESSAGES_SHOWN, FRAMES_SHOWN, LETTERS_SHOWN, LONG = 12, 5, 160, 320
STYLES = {Grade.LOG: "green", Grade.MESSAGES: "green", Grade.SYMPTOM: "yellow", Grade.NOTHING: "magenta"}


def to_lines(result: ReproductionResult, *, files: Mapping[str, Path]) -> list[str]:
    """Lines with rich's markup. `files` are what was written, by a word for each; `replay` is the script."""
    found = _found(result.best, result) if result.best and result.reproduced else _nothing_found(result)
    return [*_head(result), *found, *_next_lines(result, files)]


def _head(result: ReproductionResult) -> Iterator[str]:
    grade, best = result.grade, result.best
    again = f"{repeats(best)}; " if best else ""
    yield f"[{STYLES[grade]}]{SIGNS[grade]} {grade_in_words(grade)}[/]  {again}{_shown(effort(result))}"
    if best is None:
        return
    lines = differing_lines(best.agreement)
    yield f"  {_shown(conclusion(result))}{':' if lines else ''}"
    yield from (f"  {sign} {where:<16}  {_shown(text)}" for sign, where, text in lines)
    if lines and (more := differing_lines_left_out(best)):
        yield f"    [dim]and {more:,} more[/]"


def _nothing_found(result: ReproductionResult) -> Iterator[str]:
    yield f"  {_shown(result.summary)}"
    if result.best:
        yield f"[bold]Seen once[/]  {_shown(in_one_line(result.best), LONG)}"
    yield "[bold]What may help[/]"
    yield from (f"  {escape(each)}" for each in advice(result.case))


def _found(best: Reproduction, result: ReproductionResult) -> Iterator[str]:
    if len(best.faults) > 1:
        yield "[bold]Two faults together[/], the second on top of the first"
    for fault in best.faults:
        yield ""
        yield f"[bold]What[/]   {_shown(what_happened(fault))}"
        yield f"       {_shown(circumstances(fault))}"
        if fault.why:
            yield f"       [dim]why this was tried: {_shown(fault.why)}[/]"
        if fault is best.faults[-1] and result.equals:
            yield f"       [bold]{any_of(result)}:[/]"
            yield from (f"         {_shown(in_one_line(each), LONG)}" for each in equally_good(result))
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
    yield "[bold]How the log follows from it[/]  [dim]→ ran then, ⇢ inferred[/]"
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
    """Its ends, and how many steps are between."""
    ends = [f"{kind_in_words(step.kind)} at {step.module}:{step.line}" for step in chain]
    guessed = inferred(chain)
    told = ends[0]
    if between := guessed[1:-1]:
        told += f" {_arrow(any(between))} {count(len(between), 'step')}"
    if len(chain) > 1:
        told += f" {_arrow(guessed[-1])} {ends[-1]}"
    return f"{told}; {inferred_in_words(chain)}" if any(guessed) else told


def _arrow(is_inferred: bool) -> str:  # noqa: FBT001 -- of one thing alone
    return "⇢" if is_inferred else "→"


def _other_lines(result: ReproductionResult) -> Iterator[str]:
    if simpler := simplification(result):
        yield "[bold]Simplified[/]"
        yield from (f"  {_shown(each)}" for each in simpler)
    others = less_alike(result)
    if others:
        yield f"[bold]{LESS_ALIKE}[/]"
    for group, found in others:
        if group:
            yield f"  {_shown(group)}"
        for each in found:
            yield f"    {_shown(in_one_line(each), LONG)}"
            yield f"      [dim]{_shown(difference(each))}; {repeats(each)}; round {each.round}[/]"


def _next_lines(result: ReproductionResult, files: Mapping[str, Path]) -> Iterator[str]:
    if files:
        yield ""
    if script := files.get("replay"):
        again, test = map(escape, next_commands(result, str(script.parent)))
        yield f"[bold]Next[/]   [green]{again}[/]"
        yield f"       [green]{test}[/]  [dim]fails until it is fixed[/]"
    for name, path in files.items():
        if name != "replay":
            yield f"{escape(name):<6} [cyan]{escape(str(path))}[/]"


def _shown(text: str, most: int = LETTERS_SHOWN) -> str:
    """On one line, without what a terminal would take for commands."""
    visible = "".join(letter if letter.isprintable() else " " for letter in text)
    return escape(visible if len(visible) <= most else f"{visible[: most - 1]}…")
