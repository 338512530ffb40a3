"""A session of drills, to look at: what came of each, with its timeline and findings; and what is left to do.

In the dashboard as in the file that a session leaves. Names come from recordings and from the service under test, and
nobody has checked them: they are text, and never markup.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import htpy as h

from cutset.model.drill import DrillFinding, DrillResult, DrillSession, DrillTest, DrillVerdict, worst_first
from cutset.model.wording import count
from cutset.report.drill.terminal import phase_in_words
from cutset.report.drill.timeline import draw_timeline
from cutset.report.page.components import bounded, code, command, note, table, tiles, verdict, with_code
from cutset.report.page.document import drawing, standalone

MOST_TO_DO = 50  # tests that are listed by name; of the others only how many
LONGEST_TEXT = 2_000  # characters of what a finding says: it may quote answers


def drill_page(session: DrillSession, *, replay: str) -> str:
    """`replay` is the command that takes a test's id."""
    return standalone("Drills", drill_body(session, replay=replay))


def drill_body(session: DrillSession, *, replay: str, resume: str = "") -> h.Node:
    """`resume` is the command that goes on with it, if nobody does."""
    results = worst_first(session.results)
    return [
        h.h1["Drills"],
        h.p(".muted")[verdicts_in_words(session)],
        None if session.finished else _unfinished(session, resume),
        _numbers(session),
        len(results) > 1 and _contents(results),
        [_drill(result, replay) for result in results],
    ]


def verdicts_in_words(session: DrillSession) -> str:
    """`2 drills: 1 passed, 1 failed, 0 unknown`."""
    verdicts = Counter(result.judgement.verdict for result in session.results)
    told = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in DrillVerdict)
    return f"{count(len(session.results), 'drill')}: {told}"


def symptoms_of(result: DrillResult) -> str:
    return ", ".join(dict.fromkeys(finding.symptom for finding in result.judgement.findings))


def _unfinished(session: DrillSession, resume: str) -> h.Element:
    to_do = session.to_do
    return note(
        h.b["! Unfinished:"],
        " this is what is known so far. ",
        f"{count(len(to_do), 'test')} left to run." if to_do else "The service is being asked what it calls.",
        session.phase and [" Last began the phase ", h.b[session.phase], " of ", code(str(to_do[0])), "."],
        h.details[h.summary["Left to run"], h.ul[_to_do(to_do)]] if to_do else None,
        resume and [h.p["Nobody goes on with it now. To do so:"], command(resume)],
        kind="degraded",
    )


def _to_do(tests: Sequence[DrillTest]) -> Iterable[h.Element]:
    yield from (h.li[bounded(str(test)), " ", h.span(".muted")[bounded(test.flow)]] for test in tests[:MOST_TO_DO])
    if (more := len(tests) - MOST_TO_DO) > 0:
        yield h.li(".muted")[f"and {more:,} more"]


def _numbers(session: DrillSession) -> h.Element:
    verdicts = Counter(result.judgement.verdict for result in session.results)
    left_out = [(f"{session.not_repeated:,}", "passed lately and left out")] if session.not_repeated else []
    return tiles(
        [
            *(
                (f"{verdicts[each]:,}", each)
                for each in (DrillVerdict.FAILED, DrillVerdict.UNKNOWN, DrillVerdict.PASSED)
            ),
            *left_out,
            (f"{session.starts:,}", "starts of the service"),
        ]
    )


def _contents(results: Sequence[DrillResult]) -> h.Element:
    return table(
        ("verdict", "fault", "request", "symptoms"),
        (
            (
                verdict(result.judgement.verdict, result.judgement.verdict),
                h.th(scope="row")[h.a(href=f"#drill-{result.test.id}")[bounded(str(result.test))]],
                bounded(result.test.flow),
                symptoms_of(result) or h.span(".muted")["none"],
            )
            for result in results
        ),
        caption="Drills, the worst first",
    )


def _drill(result: DrillResult, replay: str) -> h.Element:
    test, judgement = result.test, result.judgement
    said = [*(phase_in_words(phase) for phase in judgement.phases if phase.success.of), *judgement.notes]
    return h.section(f"#drill-{test.id}", class_=["drilled", judgement.verdict])[
        h.h2[verdict(judgement.verdict, judgement.verdict), " · ", bounded(str(test))],
        h.p(".muted")[bounded(test.flow)],
        [_finding(finding) for finding in judgement.findings]
        or h.p[with_code(bounded(judgement.reason, LONGEST_TEXT))],
        _picture(result) if result.timeline else None,
        h.ul[(h.li[with_code(bounded(each, LONGEST_TEXT))] for each in said)] if said else None,
        command(f"{replay} {test.id}"),
    ]


def _finding(finding: DrillFinding) -> h.Element:
    return note(
        h.b[finding.symptom],
        " at ",
        code(finding.level),
        ": ",
        with_code(bounded(finding.what, LONGEST_TEXT)),
        finding.trace_ids
        and h.p(".muted.small")["evidence ", h.code[bounded(" ".join(finding.trace_ids), LONGEST_TEXT)]],
        kind="failed",
    )


def _picture(result: DrillResult) -> h.Node:
    label = bounded(f"Answers and their latency before, during and after {result.test}")
    return drawing(draw_timeline(result.timeline, title=bounded(str(result.test))), label=label, wide=True)
