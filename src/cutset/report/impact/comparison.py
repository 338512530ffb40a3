"""Two impacts of the same fault compared, API by API: better, worse or the same, as far as both can tell.

The change is a difference of differences: what the fault does now, less what it did before, each against its own
control, so that a system that fails more in general is not called worse. Its interval goes from the least that the two
intervals allow to the most. It covers the truth whenever both do: rather too wide than too narrow.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rich.markup import escape

from cutset.errors import UsageError
from cutset.model.fault import format_cut
from cutset.model.impact import ApiImpact, ApiVerdict, Impact, Interval
from cutset.model.point import Point
from cutset.model.wording import count
from cutset.report.impact.json import interval_document
from cutset.report.impact.wording import interval_in_words, interval_of, points_in_words, seconds_in_words

FORMAT = 1


class ImpactChange(StrEnum):
    WORSE = "worse"
    CANNOT_TELL = "cannot tell"
    BETTER = "better"
    SAME = "same"
    GONE = "gone"  # no longer called, or no longer upstream of the fault


_MARKS = {
    ImpactChange.WORSE: ("red", "✗"),
    ImpactChange.CANNOT_TELL: ("magenta", "?"),
    ImpactChange.BETTER: ("green", "✓"),
    ImpactChange.SAME: ("dim", "="),
    ImpactChange.GONE: ("dim", "-"),
}


@dataclass(frozen=True, slots=True)
class ApiChange:
    api: Point
    change: ImpactChange
    reason: str
    before: ApiImpact | None
    now: ApiImpact | None
    difference: float = 0.0  # of the failures by the fault: more than 0 is worse
    interval: Interval | None = None  # where both know the API


@dataclass(frozen=True, slots=True)
class ImpactComparison:
    before: str  # the run
    now: str
    apis: tuple[ApiChange, ...]  # the worst first
    notes: tuple[str, ...] = ()  # what else differs between the two

    @property
    def worse(self) -> bool:
        return any(each.change is ImpactChange.WORSE for each in self.apis)

    @property
    def exit_code(self) -> int:
        """1 if something got worse, 3 if that cannot be told, else 0."""
        if self.worse:
            return 1
        return 3 if not self.apis or any(each.change is ImpactChange.CANNOT_TELL for each in self.apis) else 0


def compare(before: Impact, now: Impact) -> ImpactComparison:
    if before.started.cut != now.started.cut:
        raise UsageError(
            f"`{before.run}` injected {format_cut(before.started.cut)}, `{now.run}` {format_cut(now.started.cut)}: "
            "these cannot be compared",
            hint="Compare runs of the same fault at the same rate; `cutset report --impact --list` has them all",
        )
    known = {each.api: each for each in before.apis}
    changes = [_change(known.pop(each.api, None), each) for each in now.apis]
    changes += [
        ApiChange(api, ImpactChange.GONE, "not seen upstream any more", each, None) for api, each in known.items()
    ]
    order = list(ImpactChange)
    changes.sort(key=lambda each: order.index(each.change))
    return ImpactComparison(before.run, now.run, tuple(changes), tuple(_notes(before, now)))


def _change(before: ApiImpact | None, now: ApiImpact) -> ApiChange:
    if before is None:
        change = {
            ApiVerdict.AFFECTED: ImpactChange.WORSE,
            ApiVerdict.RESILIENT: ImpactChange.SAME,
            ApiVerdict.CANNOT_TELL: ImpactChange.CANNOT_TELL,
        }[now.verdict]
        return ApiChange(now.api, change, f"not known before, {now.verdict} now", None, now)
    failures = _less(interval_of(now), interval_of(before))
    change, reason = _judged(before, now, failures)
    return ApiChange(now.api, change, reason, before, now, now.difference - before.difference, failures)


def _judged(before: ApiImpact, now: ApiImpact, failures: Interval) -> tuple[ImpactChange, str]:
    verdicts = f"{before.verdict} before, {now.verdict} now"
    later = _less(now.slower, before.slower) if now.slower and before.slower else Interval(0.0, 0.0)
    more = f"; about {now.more_requests:,} more requests in each group would tell" if now.more_requests else ""
    both_affected = now.verdict is before.verdict is ApiVerdict.AFFECTED
    cases = (
        (failures.low > 0, ImpactChange.WORSE, f"fails more by the fault than before; {verdicts}"),
        (now.still_off and not before.still_off, ImpactChange.WORSE, "does not recover any more"),
        (
            later.low > 0,
            ImpactChange.WORSE,
            f"its p95 suffers by {seconds_in_words(later.low)} more than before, or worse",
        ),
        (failures.high < 0, ImpactChange.BETTER, f"fails less by the fault than before; {verdicts}"),
        (before.still_off and not now.still_off, ImpactChange.BETTER, "recovers now"),
        (
            later.high < 0,
            ImpactChange.BETTER,
            f"its p95 suffers by {seconds_in_words(-later.high)} less than before, or better",
        ),
        (now.verdict is ApiVerdict.RESILIENT or both_affected, ImpactChange.SAME, verdicts),
        (True, ImpactChange.CANNOT_TELL, f"{verdicts}, but both may be equal{more}"),
    )
    return next((change, reason) for holds, change, reason in cases if holds)


def _less(now: Interval, before: Interval) -> Interval:
    return Interval(now.low - before.high, now.high - before.low)


def _notes(before: Impact, now: Impact) -> Iterator[str]:
    one, other = before.started, now.started
    if one.traffic != other.traffic:
        yield f"traffic was {one.traffic}, is {other.traffic}"
    if (one.entries, one.matching) != (other.entries, other.matching):
        yield "other requests were looked at"
    for run in (before, now):
        yield from (f"{run.run}: {problem}" for problem in run.problems)
        if run.guard is not None:
            yield f"{run.run} was stopped by {run.guard.guard}: {run.guard.reason}"


def comparison_lines(comparison: ImpactComparison) -> Iterator[str]:
    """Lines with rich's markup."""
    yield f"Against {escape(comparison.before)}"
    for each in comparison.apis:
        colour, sign = _MARKS[each.change]
        size = f"  {points_in_words(each.difference)} {interval_in_words(each.interval)}" if each.interval else ""
        yield f"  [{colour}]{sign} {each.change:11}[/]  {escape(f'{each.api}{size}')}  [dim]{escape(each.reason)}[/]"
    yield from (f"  [yellow]! {escape(note)}[/]" for note in comparison.notes)
    worse = sum(each.change is ImpactChange.WORSE for each in comparison.apis)
    yield f"{count(worse, 'API')} worse" if worse else "Nothing is known to be worse"


def comparison_document(comparison: ImpactComparison) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "against": comparison.before,
        "run": comparison.now,
        "worse": comparison.worse,
        "apis": [
            {
                "api": str(each.api),
                "change": each.change.value,
                "reason": each.reason,
                "verdict_before": each.before.verdict.value if each.before else None,
                "verdict": each.now.verdict.value if each.now else None,
                "difference": round(each.difference, 6) if each.interval else None,
                "interval": interval_document(each.interval),
            }
            for each in comparison.apis
        ],
        "notes": list(comparison.notes),
    }
