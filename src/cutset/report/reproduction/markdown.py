"""A reproduced failure as Markdown, for a comment: the fault, why it is believed, how the log follows from it."""

from collections.abc import Iterable, Iterator

from cutset.model.reproduction.result import FailureMessage, Reproduction, ReproductionResult
from cutset.model.wording import count
from cutset.report.markdown import block, code, document, text, with_code
from cutset.report.reproduction.causal_graph import kind_in_words, message_in_words
from cutset.report.reproduction.terminal import (
    TEST,
    advice,
    alternatives_by_group,
    circumstances,
    evidence,
    excerpt,
    moment,
    simplification,
    what_happened,
)

MOST_MESSAGES = 30


def to_markdown(result: ReproductionResult, replay: str = "replay") -> str:
    """`replay` is the folder of the script that replays."""
    return document(_found(result, result.best, replay) if result.best else _nothing_found(result))


def _nothing_found(result: ReproductionResult) -> Iterator[str]:
    yield "# ? Not reproduced"
    yield f"{count(result.rounds, 'round')}, {result.seconds:,.0f} s; oracle {code(result.case.oracle)}"
    yield text(result.summary)
    yield "## What may help"
    yield _list(advice(result.case))


def _found(result: ReproductionResult, best: Reproduction, replay: str) -> Iterator[str]:
    yield f"# ✗ Reproduced: {with_code(', and '.join(map(what_happened, best.faults)))}"
    yield f"{count(result.rounds, 'round')}, {result.seconds:,.0f} s; oracle {code(result.case.oracle)}"
    for fault in best.faults:
        yield "## What, where, when"
        yield f"{with_code(what_happened(fault))}; {text(circumstances(fault))}"
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
    for group, found in alternatives_by_group(result):
        yield f"## Shows the same: {with_code(group or 'other causes')}"
        yield _list(" and ".join(map(str, each.faults)) for each in found)
    if simpler := simplification(result):
        yield "## What was simplified"
        yield _list(simpler)
    yield "## What to do next"
    yield block([f"python {replay}/replay.py", f"pytest {replay}/{TEST}"], "console")


def _message(message: FailureMessage) -> str:
    where = "" if message.absent else f"line {message.line:,}: "
    head = f"- {where}{code(message.text)} {message_in_words(message)}"
    if not message.chain:
        return f"{head}; no causal chain to it is known"
    steps = (
        f"  1. {kind_in_words(step.kind)}: {code(step.text)} {text(f'{step.function} · {step.module}:{step.line}')}"
        for step in message.chain
    )
    return "\n".join([head, *steps])


def _list(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {with_code(each)}" for each in sentences)
