"""What a hook wrote down: visits, and each fault before it let it happen, one JSON object in a file of its own."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from cutset.model.reproduction.site import SiteFault, Visit
from cutset.reproduce.rounds.harness import ArmedRound, Firing, HookReport
from cutset.reproduce.rounds.log_clock import LogMoment, log_clock


class VisitInRecord(Protocol):
    """As a `Visit`, but with the moment as a hook tells it."""

    @property
    def site(self) -> int: ...
    @property
    def occurrence(self) -> int: ...
    @property
    def process(self) -> int: ...
    @property
    def thread(self) -> str: ...
    @property
    def within(self) -> str: ...
    @property
    def nth(self) -> int: ...
    @property
    def logged(self) -> int: ...
    @property
    def printed(self) -> int: ...


def timed_visits(
    rows: Sequence[VisitInRecord], logs: Iterable[Path], record_lines: Callable[[str], Sequence[int]]
) -> tuple[tuple[Visit, ...], Callable[[LogMoment], int]]:
    """With how many lines the log had by then; and what tells that of any moment."""
    log = b"".join(path.read_bytes() for path in logs if path.exists())
    lines_at = log_clock({LogMoment(row.logged, row.printed) for row in rows}, log, record_lines)
    visits = tuple(
        Visit(
            site=row.site,
            occurrence=row.occurrence,
            log_lines=lines_at(LogMoment(row.logged, row.printed)),
            process=row.process,
            thread=row.thread,
            within=row.within,
            nth=row.nth,
        )
        for row in rows
    )
    return visits, lines_at


def report_of(
    plan: ArmedRound,
    out: Path,
    ground: str,
    timed: tuple[tuple[Visit, ...], Callable[[LogMoment], int]],
    problems: list[str],
) -> HookReport:
    """`out` has fired.json, and a file for each fault of the ground, whose name `ground` begins."""
    visits, lines_at = timed
    firings = [
        read_firing(out / f"{ground}.{number}.json", [fault], lines_at, problems)
        for number, fault in enumerate(plan.ground)
    ]
    return HookReport(
        fired=read_firing(out / "fired.json", plan.window, lines_at, problems),
        fired_ground=tuple(firing for firing in firings if firing is not None),
        visits=visits,
        problems=tuple(problems),
    )


def read_firing(
    path: Path, armed: Sequence[SiteFault], lines_at: Callable[[LogMoment], int], problems: list[str]
) -> Firing | None:
    """None if there is no such file; of what was `armed`, the one that fired is told even by one that was cut off."""
    if not path.exists():
        return None
    try:
        fields = json.loads(path.read_text("utf-8"))
        return Firing(
            fault=SiteFault(fields["site"], fields["occurrence"], fields["effect"]),
            log_lines=lines_at(LogMoment(fields["logged"], fields["printed"])),
            process=fields["process"],
            thread=fields["thread"],
            stack=tuple(fields["stack"]),
            within=fields["within"],
            nth=fields["nth"],
        )
    except (ValueError, KeyError) as error:  # its process was killed while it wrote
        problems.append(f"a fault fired, but what it was cannot be read: {error!r}")
        if len(armed) != 1:
            return None  # it may be any of them
        (fault,) = armed
        return Firing(fault, 0, 0, "", (), fault.within, fault.occurrence if fault.within else 0)
