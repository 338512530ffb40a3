"""What came of impacts: from the events of a run, or from the ledger; as results, as pages, as an exit code."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cutset.app.report_file import write_report
from cutset.judge.impact import impact_of
from cutset.model.impact import ApiVerdict, Impact, ImpactEvent, ImpactStarted
from cutset.model.run import Loop, RunStarted
from cutset.report.impact.comparison import ImpactComparison
from cutset.report.impact.markdown import to_markdown
from cutset.report.impact.page import impact_page
from cutset.report.replaying import impact_command
from cutset.store.ledger import open_existing_ledger
from cutset.store.runs import impact_events, latest_run

MOST_IMPACTS = 50  # in the list, the latest: each is judged again from its events
_CODES = {ApiVerdict.RESILIENT: 0, ApiVerdict.AFFECTED: 1, ApiVerdict.CANNOT_TELL: 3}
_WORST_FIRST = (4, 1, 3, 0)


@dataclass(frozen=True, slots=True)
class RecordedImpact:
    impact: Impact
    events: tuple[ImpactEvent, ...]  # of this run alone

    @property
    def started(self) -> RunStarted:
        return next(event for event in self.events if isinstance(event, RunStarted))


def recorded_in(events: Iterable[ImpactEvent]) -> list[RecordedImpact]:
    """Of each run that got as far as to say what it injects."""
    runs: list[list[ImpactEvent]] = []
    for event in events:
        if isinstance(event, RunStarted):
            runs.append([])
        runs[-1].append(event)
    return [RecordedImpact(impact_of(run), tuple(run)) for run in runs if says_what(run)]


def impacts_in(events: Iterable[ImpactEvent]) -> list[Impact]:
    return [each.impact for each in recorded_in(events)]


def is_impact(store: Path, run: str) -> bool:
    with open_existing_ledger(store) as ledger:
        return any(each.id == run for each in ledger.runs(Loop.IMPACT))


def list_impacts(store: Path) -> list[tuple[float, Impact]]:
    """The latest last, each with the time at which it began. What ended before it said what it injects is left out."""
    with open_existing_ledger(store) as ledger:
        runs = [(run.started_at, impact_events(ledger, run.id)) for run in ledger.runs(Loop.IMPACT)[-MOST_IMPACTS:]]
    return [(at, impact_of(events)) for at, events in runs if says_what(events)]


def read_recorded_impact(store: Path, wanted: str = "") -> RecordedImpact:
    """By default the latest."""
    with open_existing_ledger(store) as ledger:
        events = tuple(impact_events(ledger, latest_run(ledger, Loop.IMPACT, wanted).id))
    return RecordedImpact(impact_of(events), events)


def repeat_of(recorded: RecordedImpact, store: Path) -> str:
    """The command that does the same again, as far as the record tells."""
    return impact_command(recorded.started, recorded.impact.started, store)


def exit_code(impacts: Sequence[Impact], comparison: ImpactComparison | None = None) -> int:
    """0 resilient, 1 affected, 3 cannot tell, 4 halted: the worst of all. Compared with a run, 1 if it got worse."""
    codes = {4 if impact.guard else _CODES[impact.verdict] for impact in impacts}
    if comparison is not None and 4 not in codes:
        return comparison.exit_code
    return next((code for code in _WORST_FIRST if code in codes), 3)


def write_impact_page(file: Path, recorded: RecordedImpact, *, links: str = "", repeat: str = "") -> None:
    """`links` says where traces can be looked at, `repeat` is the command that does the same again."""
    write_report(file, impact_page(recorded.impact, recorded.events, links, repeat), hint=_kept(recorded))


def write_impact_markdown(file: Path, recorded: RecordedImpact, *, repeat: str = "") -> None:
    write_report(file, to_markdown(recorded.impact, repeat), hint=_kept(recorded))


def _kept(recorded: RecordedImpact) -> str:
    return f"What was measured is kept: see `cutset report {recorded.impact.run}`"


def says_what(events: Iterable[ImpactEvent]) -> bool:
    """Whether it got as far as to say what it injects."""
    return any(isinstance(event, ImpactStarted) for event in events)
