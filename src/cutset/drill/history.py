"""What drills have found so far, a line of JSON each in `drills.jsonl` of the store: nothing is changed or deleted.

A line that a kill or a full disk cut short is dropped, and its test run again.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cutset.drill.plan import PlannedTest
from cutset.errors import InputError, TargetError
from cutset.model.drill import (
    DrillFinding,
    DrillJudgement,
    DrillResult,
    DrillTest,
    DrillVerdict,
    Phase,
    PhaseStatistics,
    Share,
    Symptom,
    TimelinePoint,
)
from cutset.model.point import Point

FORMAT = 1
DAY = 86_400.0
_NAME = "drills.jsonl"


def append(store: Path, session: str, result: DrillResult | None) -> None:
    """None ends the session: there is nothing to resume."""
    _write(store, {"format": FORMAT, "session": session} | ({} if result is None else asdict(result)))


def _write(store: Path, line: Mapping[str, Any]) -> None:
    try:
        store.mkdir(parents=True, exist_ok=True)
        with (store / _NAME).open("ab") as file:
            if file.tell() and not _ends_with_newline(store / _NAME):
                file.write(b"\n")  # the torn line before stays one of its own
            file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
    except OSError as error:
        raise TargetError(
            f"Cannot write `{store / _NAME}`: {error}",
            hint="What is recorded so far is kept: make room, then go on with `cutset drill --resume`",
        ) from error


def results(store: Path) -> list[tuple[str, DrillResult]]:
    """Each with its session, the latest last."""
    return [(line["session"], _result(line)) for line in _lines(store) if "test" in line]


def begin(store: Path, session: str) -> None:
    """From here on it can be resumed, whatever becomes of its first test."""
    _write(store, {"format": FORMAT, "session": session, "begun": True})


def unfinished_session(store: Path) -> str:
    """The latest one that was interrupted; nothing if there is none."""
    begun: dict[str, bool] = {}
    for line in _lines(store):
        if "test" in line or "begun" in line:
            begun.setdefault(str(line["session"]), True)
        else:
            begun.pop(str(line["session"]), None)
    return next(reversed(begun), "")


def due(
    tests: Sequence[PlannedTest],
    past: Iterable[tuple[str, DrillResult]],
    *,
    now: float,
    expire_days: float,
    session: str,
) -> tuple[list[PlannedTest], list[tuple[PlannedTest, str]]]:
    """Those to run, failed ones first, and those not to run, with the reason."""
    latest = {result.test.id: (own, result) for own, result in past}
    run: list[tuple[int, PlannedTest]] = []
    skipped: list[tuple[PlannedTest, str]] = []
    for planned in tests:
        own, result = latest.get(planned.test.id, ("", None))
        verdict = result.judgement.verdict if result else None
        days = (now - result.at) / DAY if result else 0.0
        if result and session and own == session:
            skipped.append((planned, f"{verdict} before the interruption"))
        elif verdict is DrillVerdict.PASSED and days < expire_days:
            skipped.append((planned, f"passed {days:.1f} days ago, which counts for {expire_days:g}"))
        else:
            run.append((verdict is not DrillVerdict.FAILED, planned))
    return [planned for _, planned in sorted(run, key=lambda item: item[0])], skipped


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def _lines(store: Path) -> list[dict[str, Any]]:
    path = store / _NAME
    if not path.exists():
        return []
    lines = []
    for number, text in enumerate(path.read_bytes().split(b"\n"), start=1):
        try:
            line = json.loads(text)
        except ValueError:
            continue  # empty, or torn
        if line.get("format") != FORMAT:
            raise InputError(
                f"`{path}`, line {number}, has format {line.get('format')}; this version of Cutset reads {FORMAT}",
                hint="Use the version of Cutset that wrote it, or another folder with `--store`",
            )
        lines.append(line)
    return lines


def _result(line: dict[str, Any]) -> DrillResult:
    judged = line["judgement"]
    return DrillResult(
        DrillTest(**line["test"] | {"point": Point(**line["test"]["point"])}),
        DrillJudgement(
            DrillVerdict(judged["verdict"]),
            judged["reason"],
            tuple(
                DrillFinding(Symptom(each["symptom"]), each["level"], each["what"], tuple(each["trace_ids"]))
                for each in judged["findings"]
            ),
            tuple(judged["notes"]),
            tuple(
                PhaseStatistics(**each | {"phase": Phase(each["phase"]), "success": Share(**each["success"])})
                for each in judged["phases"]
            ),
        ),
        tuple(TimelinePoint(**each | {"phase": Phase(each["phase"])}) for each in line["timeline"]),
        line["at"],
    )
