"""A search for a known failure, in a process of its own, as users have it, and within a time."""

import asyncio
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.reproduce.cases import KnownFailure, affected_case
from benchmarks.reproduce.judging import graded_right, judge

from cutset.errors import CutsetError
from cutset.model.reproduction.event import ProgramAnalysed, ReproductionFinished, RoundFinished, RoundStage
from cutset.model.reproduction.result import Grade, ReproductionResult
from cutset.reproduce.loop import reproduce
from cutset.reproduce.prepare import read_subject
from cutset.reproduce.python.front_end import PythonFrontEnd
from cutset.reproduce.settings import FailureCase, ReproductionSettings

GRACE_S = 120  # for the round that has begun when the time is over, and for what is left to do then
COUNTED = (RoundStage.SINGLE, RoundStage.CLOSER, RoundStage.SECOND)


@dataclass(frozen=True, slots=True)
class Trial:
    """How known failures are searched for."""

    settings: ReproductionSettings
    environments: Path
    replays: int = 0  # 0: what is found is not judged


def run_trials(cases: Sequence[KnownFailure], trial: Trial, at_once: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """By name, as they end."""
    with ProcessPoolExecutor(at_once, max_tasks_per_child=1) as pool:
        running = {pool.submit(run_trial, case, trial): case.name for case in cases}
        for done in as_completed(running):
            yield running[done], done.result()


def run_trial(known: KnownFailure, trial: Trial) -> dict[str, Any]:
    """What is wrong with one case does not end the others."""
    begun = time.perf_counter()
    found: dict[str, Any] = {"grade": Grade.NOTHING.name, "reproduced": False, "rounds": 0}
    try:
        asyncio.run(_search(known, trial, found))
    except TimeoutError:
        found["ended"] = "out of time"
    except CutsetError as error:
        found["ended"] = f"refused: {error.message}"
    except Exception:  # noqa: BLE001
        found["error"] = traceback.format_exc()
    found["graded_right"] = "error" not in found and graded_right(found)
    found["seconds"] = round(time.perf_counter() - begun, 1)
    print(f"{known.name}: {trial.settings.strategy}: {found}", flush=True)
    return found


async def _search(known: KnownFailure, trial: Trial, found: dict[str, Any]) -> None:
    """Tells `found` what is known so far."""
    case = await asyncio.to_thread(affected_case, known, trial.environments)
    with tempfile.TemporaryDirectory(prefix="cutset-reproduce-") as place:
        async with asyncio.timeout(trial.settings.minutes * 60 + GRACE_S):
            result = await _result(known, case, trial.settings, Path(place) / "runs", found)
        found |= {"all_rounds": result.rounds, "search_seconds": result.seconds, "stopped": result.stopped}
        if trial.replays:
            found |= judge(
                known,
                case,
                result,
                environments=trial.environments,
                place=Path(place),
                replays=trial.replays,
            )


async def _result(
    known: KnownFailure, case: FailureCase, settings: ReproductionSettings, folder: Path, found: dict[str, Any]
) -> ReproductionResult:
    subject = await read_subject(case, PythonFrontEnd())
    async for event in reproduce(subject, settings, folder):
        match event:
            case ProgramAnalysed():
                print(
                    f"{known.name}: {event.lines:,} lines, {event.sites:,} sites, {event.related_sites:,} "
                    f"lead to one of {len(event.messages)} messages, {event.visits:,} visits",
                    flush=True,
                )
            case RoundFinished(stage=stage) if stage in COUNTED:
                if not found["reproduced"]:  # as ANDURIL counts: until the oracle holds
                    found["rounds"] = event.number
                found["reproduced"] |= event.reproduces
                fired = " + ".join(map(str, event.faults)) or "nothing fired"
                print(f"  {known.name} {event.number}: {fired}: {event.answer}", flush=True)
            case ReproductionFinished(result):
                return result
    raise AssertionError("a search ends with its result")
