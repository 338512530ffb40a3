"""An impact as Markdown, for a comment: the conclusion, each API in numbers, what to do next."""

from collections.abc import Iterator

from cutset.model.impact import ApiImpact, Impact
from cutset.report.impact.page import conclusion
from cutset.report.impact.wording import (
    SIGNS,
    advice,
    attempts_in_words,
    confidence_in_words,
    difference_in_words,
    groups_in_words,
    injected_in_words,
    others_in_words,
    p95_in_words,
    rate_in_words,
    what_was_done,
)
from cutset.report.markdown import block, code, document, table, text, with_code

_HEADS = ("verdict", "API", "before", "control", "fault", "more failures", "p95", "attempts")


def to_markdown(impact: Impact, repeat: str = "") -> str:
    """`repeat` is the command that does the same again."""
    return document(_blocks(impact, repeat))


def _blocks(impact: Impact, repeat: str) -> Iterator[str]:
    yield f"# {SIGNS[impact.verdict]} {conclusion(impact)}"
    yield f"{with_code(what_was_done(impact.started))} \\({groups_in_words(impact)}\\), run {code(impact.run)}"
    if impact.guard is not None:
        yield f"**Stopped by** {code(impact.guard.guard)}: {text(impact.guard.reason)}"
    if not impact.finished:
        yield "**Unfinished:** this is what is known so far."
    yield from (f"**Doubtful:** {with_code(problem)}" for problem in impact.problems)
    rows = [_row(api, f"{SIGNS[api.verdict]} {api.verdict}") for api in impact.apis]
    yield table(_HEADS, [*rows, *(_row(api, "↯ the fault is here") for api in impact.target)])
    if reasons := [f"- {code(str(api.api))}: {text(api.reason)}" for api in impact.apis if api.reason]:
        yield "\n".join(reasons)
    yield f"{text(injected_in_words(impact))}; {text(others_in_words(impact))}. {text(confidence_in_words(impact))}."
    if steps := [f"- {with_code(step)}" for step in advice(impact)]:
        yield "## What to do next"
        yield "\n".join(steps)
    if repeat:
        yield block([repeat], "console")


def _row(api: ApiImpact, verdict: str) -> tuple[str, ...]:
    rates = (
        rate_in_words(sample.success_rate) if sample.requests else "–"
        for sample in (api.before, api.control, api.fault)
    )
    name = code(str(api.api)) + (" \\(entry\\)" if api.is_entry else "")
    return verdict, name, *rates, difference_in_words(api), p95_in_words(api), attempts_in_words(api)
