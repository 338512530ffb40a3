"""A reproduced failure as Markdown, for a comment: the fault, why it is believed, how the log follows from it."""

from collections.abc import Iterable, Iterator

from cutset.model.reproduction.result import FailureMessage, Reproduction, ReproductionResult
from cutset.report.markdown import block, code, document, text, with_code
from cutset.report.reproduction.causal_graph import kind_in_words, message_in_words
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
    less_alike,
    moment,
    next_commands,
    repeats,
    simplification,
    what_happened,
)

MOST_MESSAGES = 30


def to_markdown(result: ReproductionResult, replay: str = "replay") -> str:
    """`replay` is the folder of the script that replays."""
    found = _found(result, result.best, replay) if result.best and result.reproduced else _nothing_found(result)
    return document(found)


def _nothing_found(result: ReproductionResult) -> Iterator[str]:
    yield f"# {_grade(result)}"
    yield from _conclusion(result)
    yield text(result.summary)
    if result.best:
        yield "## What was seen once"
        yield with_code(in_one_line(result.best))
    yield "## What may help"
    yield _list(advice(result.case))


def _grade(result: ReproductionResult) -> str:
    return f"{SIGNS[result.grade]} {grade_in_words(result.grade)}"


def _conclusion(result: ReproductionResult) -> Iterator[str]:
    again = f"{repeats(result.best)}; " if result.best else ""
    yield f"{again}{text(effort(result))}; oracle {code(result.case.oracle)}"
    lines = differing_lines(result.best.agreement) if result.best else []
    yield f"**{text(conclusion(result))}**{':' if lines else ''}"
    if result.best and lines:
        more = differing_lines_left_out(result.best)
        shown = [f"- {sign} {where}: {code(line)}" for sign, where, line in lines]
        yield "\n".join([*shown, f"- and {more:,} more"] if more else shown)


def _found(result: ReproductionResult, best: Reproduction, replay: str) -> Iterator[str]:
    yield f"# {_grade(result)}: {with_code(', and '.join(map(what_happened, best.faults)))}"
    yield from _conclusion(result)
    if alike := equally_good(result):
        yield f"## {any_of(result)}"
        yield _list(map(in_one_line, alike))
    for fault in best.faults:
        yield "## What, where, when"
        yield f"{with_code(what_happened(fault))}; {with_code(circumstances(fault))}"
        yield f"{code(f'{fault.site.path}:{fault.site.line}')} in {code(fault.site.function)}"
        if lines := excerpt(fault.site):
            yield block(f"{'▸' if is_site else ' '}{number:>6}  {line[:200]}" for number, line, is_site in lines)
        yield f"It happened {text(moment(fault, result.case.log_lines))}."
    yield "## Why it is believed"
    yield _list(evidence(best, result))
    yield "## How the log follows from it"
    yield from map(_message, best.messages[:MOST_MESSAGES])
    if (more := len(best.messages) - MOST_MESSAGES) > 0:
        yield f"and {more:,} more messages"
    others = less_alike(result)
    if others:
        yield f"## {LESS_ALIKE}"
    for group, found in others:
        if group:
            yield with_code(group)
        yield _list(f"{in_one_line(each)}; {difference(each)}; {repeats(each)}" for each in found)
    if simpler := simplification(result):
        yield "## What was simplified"
        yield _list(simpler)
    yield "## What to do next"
    yield block(next_commands(result, replay), "console")


def _message(message: FailureMessage) -> str:
    where = "" if message.absent else f"line {message.line:,}: "
    head = f"- {where}{code(message.text)} {message_in_words(message)}"
    if not message.chain:
        return f"{head}; no causal chain to it is known"
    steps = (
        f"  1. {'*inferred:* ' if guessed else ''}{kind_in_words(step.kind)}: {code(step.text)} "
        f"{text(f'{step.function} · {step.module}:{step.line}')}"
        for step, guessed in zip(message.chain, inferred(message.chain), strict=True)
    )
    return "\n".join([head, *steps])


def _list(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {with_code(each)}" for each in sentences)
