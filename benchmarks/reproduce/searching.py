"""A search for a known failure, in a process of its own, as users have it, and within a time."""

import asyncio
import os
import signal
import tempfile
import time
import traceback
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from benchmarks.reproduce.judging import describe, grading, judge
from benchmarks.reproduce.known import KnownFailure

from cutset.errors import CutsetError
from cutset.model.reproduction.event import (
    ProgramAnalysed,
    ReproductionEvent,
    ReproductionFinished,
    RoundFinished,
    RoundStage,
)
from cutset.model.reproduction.result import Grade
from cutset.reproduce.loop import reproduce
from cutset.reproduce.prepare import read_subject
from cutset.reproduce.settings import ReproductionSettings

GRACE_S = 120  # for the round that has begun when the time is over, and for what is left to do then
LEAST_MINUTES = 0.5  # left: with less, no search begins
COUNTED = (RoundStage.SINGLE, RoundStage.CLOSER, RoundStage.SECOND)
SPAWN = get_context("spawn")


@dataclass(frozen=True, slots=True)
class Trial:
    """How known failures are searched for."""

    settings: ReproductionSettings
    environments: Path
    replays: int = 0  # 0: what is found is not judged
    deadline: float = inf  # of all trials, by `time.monotonic`
    cache: Path | None = None  # a folder for what was read of programs


def run_trials(cases: Sequence[KnownFailure], trial: Trial, at_once: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """By name, as they end. After Ctrl-C no other begins, and those that run tell what they know."""
    waiting = deque(cases)
    running: dict[Connection, tuple[str, SpawnProcess]] = {}
    interrupted = False
    try:
        while waiting or running:
            try:
                while waiting and len(running) < at_once:
                    _start(waiting.popleft(), trial, running)
                for end in wait(list(running)) if running else ():
                    assert isinstance(end, Connection)
                    name, process = running.pop(end)
                    yield name, _told(end, process)
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                waiting.clear()
                for _, process in running.values():
                    _interrupt(process)
    finally:
        for _, process in running.values():
            process.terminate()
    if interrupted:
        raise KeyboardInterrupt


def _start(known: KnownFailure, trial: Trial, running: dict[Connection, tuple[str, SpawnProcess]]) -> None:
    """Unless too little time is left."""
    minutes = (trial.deadline - time.monotonic()) / 60
    if minutes < LEAST_MINUTES:
        return
    limited = replace(trial.settings, minutes=min(trial.settings.minutes or inf, minutes))
    end, other = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=_run_apart, args=(known, replace(trial, settings=limited), other))
    process.start()
    other.close()
    running[end] = known.name, process


def _run_apart(known: KnownFailure, trial: Trial, tell: Connection) -> None:
    os.setsid()  # Ctrl-C is for those who started us: they tell us, and everything that we started, once
    tell.send(run_trial(known, trial))


def _interrupt(process: SpawnProcess) -> None:
    try:
        os.killpg(process.pid or 0, signal.SIGINT)
    except ProcessLookupError:  # it has not come so far as to have a group of its own
        process.terminate()


def _told(end: Connection, process: SpawnProcess) -> dict[str, Any]:
    with end:
        try:
            found: dict[str, Any] = end.recv()
        except EOFError:
            found = {**_nothing(), "seconds": 0.0}
    process.join()
    if process.exitcode:
        found["error"] = f"its process ended with {process.exitcode}"
    return found


def _nothing() -> dict[str, Any]:
    return {"grade": Grade.NOTHING.name, "reproduced": False, "rounds": 0, "graded_right": None}


def run_trial(known: KnownFailure, trial: Trial) -> dict[str, Any]:
    """What is wrong with one case does not end the others."""
    begun = time.perf_counter()
    found = _nothing()
    try:
        asyncio.run(_search(known, trial, found))
    except TimeoutError:
        found["ended"] = "out of time"
    except KeyboardInterrupt:
        found["ended"] = "interrupted"
    except CutsetError as error:
        found["ended"] = f"refused: {error.message}"
    except Exception:  # noqa: BLE001
        found["error"] = traceback.format_exc()
    found |= grading(found)
    found["seconds"] = round(time.perf_counter() - begun, 1)
    print(f"{known.name}: {trial.settings.strategy}: {found}", flush=True)
    return found


async def _search(known: KnownFailure, trial: Trial, found: dict[str, Any]) -> None:
    """Tells `found` what is known so far, however it ends."""
    case = await asyncio.to_thread(known.affected_case, trial.environments)
    results = []

    def record(event: ReproductionEvent) -> None:
        if isinstance(event, ReproductionFinished):
            results.append(event.result)

    with tempfile.TemporaryDirectory(prefix="cutset-reproduce-", ignore_cleanup_errors=True) as place:
        try:
            async with asyncio.timeout(trial.settings.minutes * 60 + GRACE_S):
                subject = await read_subject(case, known.front_end, cache=trial.cache)
                await _watch(known.name, reproduce(subject, trial.settings, Path(place) / "runs", record=record), found)
        finally:
            for result in results:
                found |= {"all_rounds": result.rounds, "search_seconds": result.seconds, "stopped": result.stopped}
                found |= describe(known, case, result) if trial.replays else {}
        if trial.replays and result.best:
            judge(
                known,
                case,
                found,
                result.best,
                environments=trial.environments,
                place=Path(place),
                replays=trial.replays,
            )


async def _watch(name: str, search: AsyncIterator[ReproductionEvent], found: dict[str, Any]) -> None:
    async for event in search:
        match event:
            case ProgramAnalysed():
                print(
                    f"{name}: {event.lines:,} lines, {event.sites:,} sites, {event.related_sites:,} "
                    f"lead to one of {len(event.messages)} messages, {event.visits:,} visits",
                    flush=True,
                )
            case RoundFinished(stage=stage) if stage in COUNTED:
                if not found["reproduced"]:  # as ANDURIL counts: until the oracle holds
                    found["rounds"] = event.number
                found["reproduced"] |= event.reproduces
                fired = " + ".join(map(str, event.faults)) or "nothing fired"
                print(f"  {name} {event.number}: {fired}: {event.answer}", flush=True)
