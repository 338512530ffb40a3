"""Begins, resumes and holds runs: one way for all loops."""

import fcntl
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TextIO

from cutset.errors import TargetError, UsageError
from cutset.model.event import CampaignEvent, ExperimentFinished
from cutset.model.hardening import HardeningEvent
from cutset.model.impact import ImpactEvent
from cutset.model.run import Loop, RunRecord, RunStarted
from cutset.model.wording import known_names
from cutset.store.codec import RecordedEvent, to_jsonable
from cutset.store.ledger import Ledger, open_for_owner
from cutset.store.run_id import new_run_id

LOCKS = "locks"  # of the store: a file for each run, locked by the process that has it


def fingerprint(**parts: object) -> dict[str, str]:
    """A digest of each part: whether it changed can be told, what it held cannot; requests hold secrets."""
    texts = {name: json.dumps(to_jsonable(value), sort_keys=True) for name, value in parts.items()}
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


@contextmanager
def new_run(ledger: Ledger, started: RunStarted) -> Iterator[str]:
    """Its id. It is ours alone until the block ends."""
    run = new_run_id()
    with held_run(ledger, run):
        ledger.append(run, replace(started, run=run))
        yield run


@contextmanager
def resumed_run(ledger: Ledger, wanted: RunStarted) -> Iterator[str]:
    """The id of the latest unfinished run of the loop for the same purpose; ours alone.

    It must have been begun under the same fingerprint.
    """
    run = unfinished_run(ledger, wanted)
    with held_run(ledger, run.id):
        yield run.id


def unfinished_run(ledger: Ledger, wanted: RunStarted) -> RunRecord:
    loop, hint = wanted.loop, f"Start one with `cutset {wanted.command}`"
    open_runs = [run for run in ledger.runs(loop) if not run.finished and run.started.part_of == wanted.part_of]
    if not open_runs:
        raise UsageError(f"There is no unfinished {loop} to resume", hint=hint)
    if changed := _differing(open_runs[-1].started.fingerprint, wanted.fingerprint):
        raise UsageError(
            f"The {loop} `{open_runs[-1].id}` was begun with other {', '.join(changed)}, so it cannot be resumed",
            hint="Undo the change, or start anew without `--resume`",
        )
    return open_runs[-1]


def latest_run(ledger: Ledger, loop: Loop, wanted: str = "") -> RunRecord:
    """The run of this id, or the latest that serves no other."""
    runs = ledger.runs(loop)
    known = [run for run in runs if not run.started.part_of]
    if wanted:
        known = [run for run in runs if run.id == wanted]
        if not known:
            raise UsageError(f"There is no {loop} `{wanted}`", hint=known_names(run.id for run in runs[-5:]))
    if not known:
        raise UsageError(f"The ledger in `{ledger.folder}` holds no {loop}")
    return known[-1]


def campaign_events(ledger: Ledger, run: str) -> list[CampaignEvent]:
    return [event for event in ledger.events(run) if isinstance(event, CampaignEvent)]


class DatedRuns(Protocol):
    """A ledger, or one that is followed."""

    def runs(self, loop: Loop | None = None) -> list[RunRecord]: ...

    def dated_events(self, run: str) -> list[tuple[float, RecordedEvent]]: ...


def tried_by_hand(ledger: DatedRuns, campaign: str) -> list[tuple[float, ExperimentFinished]]:
    """Experiments that somebody asked for on behalf of this campaign, after it, each with its time in Unix seconds."""
    return [
        (at, event)
        for run in ledger.runs(Loop.CAMPAIGN)
        if run.started.part_of == campaign
        for at, event in ledger.dated_events(run.id)
        if isinstance(event, ExperimentFinished)
    ]


def hardening_events(ledger: Ledger, run: str) -> list[HardeningEvent]:
    return [event for event in ledger.events(run) if isinstance(event, HardeningEvent)]


def impact_events(ledger: Ledger, run: str) -> list[ImpactEvent]:
    return [event for event in ledger.events(run) if isinstance(event, ImpactEvent)]


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


@contextmanager
def held_run(ledger: Ledger, run: str) -> Iterator[None]:
    """It is ours alone until the block ends. Raises UsageError if another process has it."""
    with _lock_file(ledger.folder / LOCKS, run) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"`{run}` is still running, in another process", hint="Wait for it, or start anew without `--resume`"
            ) from None
        yield


def is_held(store: Path, run: str) -> bool:
    """Whether some process has it now."""
    try:
        with (store / LOCKS / run).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # it was never begun here
        return False
    return False


def _lock_file(folder: Path, run: str) -> TextIO:
    try:
        folder.mkdir(exist_ok=True, mode=0o700)
        return open_for_owner(folder / run)
    except OSError as error:
        raise TargetError(
            f"Cannot write to `{folder}`: {error.strerror}", hint="Make room, or choose another folder with `--store`"
        ) from error
