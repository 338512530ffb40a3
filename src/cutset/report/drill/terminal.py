"""Drills for the terminal and for programs: what was planned and why, what was found, how to see it again."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.markup import escape

from cutset.model.drill import DrillResult, DrillTest, DrillVerdict, PhaseStatistics, worst_first
from cutset.model.wording import count

_MARKS = {
    DrillVerdict.PASSED: "[green]✓ passed[/]",
    DrillVerdict.FAILED: "[red]✗ failed[/]",
    DrillVerdict.UNKNOWN: "[magenta]? unknown[/]",
}


def plan_lines(
    tests: Sequence[tuple[DrillTest, str]], pruned: Sequence[tuple[str, str]], skipped: Sequence[tuple[DrillTest, str]]
) -> Iterator[str]:
    """Each with the reason."""
    yield f"[bold]{count(len(tests), 'test')} to run[/]"
    flow = ""
    for test, reason in tests:
        if test.flow != flow:
            flow = test.flow
            yield f"  {escape(flow)}"
        yield f"    {test.id}  {escape(str(test))}  [dim]{escape(reason)}[/]"
    if skipped:
        yield f"[bold]{count(len(skipped), 'test')} not repeated[/]"
        yield from (f"    {test.id}  {escape(str(test))}  [dim]{escape(reason)}[/]" for test, reason in skipped)
    if pruned:
        yield f"[bold]{count(len(pruned), 'candidate')} left out[/]"
        yield from (f"    {escape(what)}  [dim]{escape(reason)}[/]" for what, reason in pruned)


def plan_document(
    tests: Sequence[tuple[DrillTest, str]], pruned: Sequence[tuple[str, str]], skipped: Sequence[tuple[DrillTest, str]]
) -> dict[str, Any]:
    return {
        "tests": [_test(test) | {"reason": reason} for test, reason in tests],
        "not_repeated": [_test(test) | {"reason": reason} for test, reason in skipped],
        "left_out": [{"candidate": what, "reason": reason} for what, reason in pruned],
    }


def result_lines(results: Sequence[DrillResult], *, starts: int, replay: str) -> Iterator[str]:
    """Failures first. `replay` is the command that takes a test's id."""
    for result in worst_first(results):
        yield from _result_lines(result, replay)
    verdicts = Counter(result.judgement.verdict for result in results)
    told = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in DrillVerdict if verdicts[verdict])
    yield f"{count(len(results), 'drill')}: {told or 'nothing to do'}; the service was started {_times(starts)}"


def _result_lines(result: DrillResult, replay: str) -> Iterator[str]:
    judgement = result.judgement
    yield f"{_MARKS[judgement.verdict]}  [bold]{escape(str(result.test))}[/]  [dim]{escape(result.test.flow)}[/]"
    for finding in judgement.findings:
        yield f"    [red]{finding.symptom}[/] at {escape(finding.level)}: {escape(finding.what)}"
        if finding.trace_ids:
            yield f"      evidence  [dim]{' '.join(finding.trace_ids)}[/]"
    if judgement.verdict is DrillVerdict.UNKNOWN:
        yield f"    {escape(judgement.reason)}"
    yield from (f"    [dim]note: {escape(note)}[/]" for note in judgement.notes)
    if judgement.verdict is not DrillVerdict.PASSED:
        yield from (f"    [dim]{escape(phase_in_words(phase))}[/]" for phase in judgement.phases if phase.success.of)
        yield f"    replay    [cyan]{escape(replay)} {result.test.id}[/]"


def phase_in_words(phase: PhaseStatistics) -> str:
    fired = f"; the fault fired in {phase.fired}" if phase.fired else ""
    return (
        f"{phase.phase}: {phase.success} good, median {1000 * phase.median:.0f} ms, "
        f"p95 {1000 * phase.p95:.0f} ms, {phase.throughput:.1f} good per second{fired}"
    )


def results_document(results: Sequence[DrillResult], *, starts: int, replay: str) -> dict[str, Any]:
    return {
        "drills": [result_document(result, replay) for result in results],
        "services_started": starts,
        "verdicts": {
            verdict.value: sum(result.judgement.verdict is verdict for result in results) for verdict in DrillVerdict
        },
    }


def result_document(result: DrillResult, replay: str) -> dict[str, Any]:
    judgement = result.judgement
    return _test(result.test) | {
        "verdict": judgement.verdict.value,
        "reason": judgement.reason,
        "findings": [
            {"symptom": each.symptom.value, "level": each.level, "what": each.what, "trace_ids": list(each.trace_ids)}
            for each in judgement.findings
        ],
        "notes": list(judgement.notes),
        "phases": [_phase(phase) for phase in judgement.phases],
        "replay": f"{replay} {result.test.id}",
    }


def _test(test: DrillTest) -> dict[str, Any]:
    return {
        "id": test.id,
        "flow": test.flow,
        "step": test.step,
        "point": str(test.point),
        "service": test.point.caller,
        "endpoint": test.endpoint,
        "peer": test.point.peer,
        "occurrence": int(test.point.occurrence or 1),
        "fault": test.fault,
    }


def _phase(phase: PhaseStatistics) -> Mapping[str, Any]:
    return {
        "phase": phase.phase.value,
        "requests": phase.success.of,
        "good": phase.success.count,
        "success_interval_95": [round(phase.success.low, 4), round(phase.success.high, 4)],
        "median_seconds": round(phase.median, 4),
        "p95_seconds": round(phase.p95, 4),
        "good_per_second": round(phase.throughput, 2),
        "fired": phase.fired,
    }


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
