"""A session of drills as Markdown, for a comment: what failed and how to see it again, then the rest in a table."""

from collections.abc import Iterator

from cutset.model.drill import DrillResult, DrillSession, DrillVerdict, worst_first
from cutset.report.drill.page import symptoms_of, verdicts_in_words
from cutset.report.drill.terminal import phase_in_words
from cutset.report.markdown import block, code, document, table, text, with_code

_SIGNS = {DrillVerdict.PASSED: "✓", DrillVerdict.FAILED: "✗", DrillVerdict.UNKNOWN: "?"}


def to_markdown(session: DrillSession, *, replay: str) -> str:
    """`replay` is the command that takes a test's id."""
    return document(_blocks(session, replay))


def _blocks(session: DrillSession, replay: str) -> Iterator[str]:
    results = worst_first(session.results)
    yield "# Drills"
    yield verdicts_in_words(session)
    if not session.finished:
        yield f"**Unfinished:** this is what is known so far; {len(session.to_do):,} left to run."
    if results:
        yield table(("verdict", "fault", "request", "symptoms"), map(_row, results))
    for result in results:
        if result.judgement.verdict is not DrillVerdict.PASSED:
            yield from _drill(result, replay)


def _row(result: DrillResult) -> tuple[str, ...]:
    verdict = result.judgement.verdict
    return f"{_SIGNS[verdict]} {verdict}", code(str(result.test)), text(result.test.flow), symptoms_of(result)


def _drill(result: DrillResult, replay: str) -> Iterator[str]:
    test, judgement = result.test, result.judgement
    yield f"## {_SIGNS[judgement.verdict]} {judgement.verdict}: {code(str(test))}"
    yield text(test.flow)
    findings = [f"- **{each.symptom}** at {code(each.level)}: {with_code(each.what)}" for each in judgement.findings]
    yield "\n".join(findings) or with_code(judgement.reason)
    said = [*(phase_in_words(phase) for phase in judgement.phases if phase.success.of), *judgement.notes]
    if said:
        yield "\n".join(f"- {with_code(each)}" for each in said)
    yield block([f"{replay} {test.id}"], "console")
