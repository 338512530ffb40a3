"""One round: the workload with at most one fault, in processes, folders and an environment of its own (ANDURIL §5.2.5).

What a round leaves in its folder, beside what the hook of its language needs and reports there:

    run.log     what it printed (`stdout.log` and `stderr.log` if its log is one of them)
    meta.json   how it ended
    work/       where it ran, unless the workload has a folder of its own; `tmp/` its temporary files
    logs/       its log files, if it wrote them elsewhere
"""

import asyncio
import json
import secrets
import shutil
import tempfile
from dataclasses import asdict, dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any

from cutset.errors import UsageError
from cutset.model.reproduction.site import Visit
from cutset.process.keeper import MARKER, Ending, Job, JobReport
from cutset.process.supervise import supervise
from cutset.reproduce.rounds.harness import ArmedRound, Firing, Harness, Workload

OUTPUT_LIMIT = 100_000_000  # bytes: beyond, a log is not worth comparing and the disk is in danger
LONGEST_WORDS = 200  # characters of a line of output, within a message
_APART = ("stdout.log", "stderr.log")
_PRINTED = {"output": ("run.log", "run.log"), "stdout": _APART, "stderr": _APART}  # by which of them is the log


@dataclass(frozen=True, slots=True)
class RoundRecord:
    folder: Path
    work: Path  # where the workload ran
    ended: Ending
    exit_code: int | None  # none if it did not exit by itself
    signal: int | None  # that ended it, unless it was ours
    wall_s: float
    cpu_s: float
    silent_s: float  # at the end, without output
    outputs: tuple[Path, ...]
    logs: tuple[Path, ...]  # where to look for log entries
    fired: Firing | None
    visits: tuple[Visit, ...]
    problems: tuple[str, ...]  # of the hook, and of ours in reading what it left
    fired_ground: tuple[Firing, ...] = ()  # faults of the plan's ground, in its order, as far as they fired

    @property
    def succeeded(self) -> bool:
        return self.ended is Ending.EXITED and self.exit_code == 0


async def run_round(workload: Workload, plan: ArmedRound, folder: Path, harness: Harness) -> RoundRecord:
    """In a new folder. To cancel it ends all its processes."""
    job = await asyncio.to_thread(_prepare, workload, plan, folder, harness)
    try:
        report = await supervise(job)
    finally:
        _remove_links(job)
    if report.ended is Ending.NOT_STARTED:
        raise UsageError(
            f"the workload `{' '.join(workload.command)}` does not start: {report.problem}",
            hint=f"It was to run in `{job.cwd}`: give programs and scripts by their absolute paths.",
        )
    record = await asyncio.to_thread(_read_record, workload, plan, job, report, harness)
    if not record.logs and record.succeeded and not plan.window:
        raise UsageError(
            f"The workload leaves no log, even without faults: no file in `{record.work}` matches `{workload.log}`",
            hint="Correct `--log-from`: a pattern of the files that it logs to, or `output`, `stdout`, `stderr`.",
        )
    return record


def _remove_links(job: Job) -> None:
    for link in job.links:
        Path(link).unlink(missing_ok=True)


def how_it_ended(record: RoundRecord) -> str:
    if record.ended is not Ending.EXITED:
        return f"it {record.ended} after {record.wall_s:.0f} s"
    return f"exit code {record.exit_code}" if record.signal is None else f"signal {record.signal}"


def last_words(record: RoundRecord) -> str:
    """The last line of its output that is no part of a stack, which mostly says what was wrong; "" if it has none."""
    text = "".join(path.read_text("utf-8", "replace") for path in dict.fromkeys(record.outputs) if path.exists())
    lines = (line.rstrip() for line in reversed(text.splitlines()) if line.strip() and not line[0].isspace())
    line = next(lines, "")
    return line if len(line) <= LONGEST_WORDS else f"{line[:LONGEST_WORDS]}…"


def meta_of(record: RoundRecord) -> dict[str, Any]:
    """How a round ended, for programs of others: its meta.json."""
    return {
        "folder": str(record.folder),
        "work": str(record.work),
        "ended": str(record.ended),
        "timed_out": record.ended is Ending.TIMED_OUT,
        "exit": record.exit_code if record.signal is None else -record.signal,
        "wall_s": round(record.wall_s, 3),
        "cpu_s": round(record.cpu_s, 3),
        "silent_s": round(record.silent_s, 3),
        "outputs": [str(path) for path in record.outputs],
        "logs": [str(path) for path in record.logs],
        "fired": None if record.fired is None else _firing_fields(record.fired),
        "first": [_firing_fields(firing) for firing in record.fired_ground],
        "problems": list(record.problems),
    }


def _firing_fields(firing: Firing) -> dict[str, Any]:
    fields = asdict(firing)
    return {"choice": fields.pop("fault"), **fields}


def _prepare(workload: Workload, plan: ArmedRound, folder: Path, harness: Harness) -> Job:
    folder = folder.absolute()
    job = _job_of(workload, folder)
    if old := _log_files(job):
        raise UsageError(
            f"the log file `{old[0]}` is there before the round: old lines cannot be told from new ones",
            hint="Move it away. Rounds at a time must not share a folder with log files.",
        )
    folder.mkdir(parents=True)
    for name in ("work", "tmp"):
        (folder / name).mkdir()
    for link in job.links:
        Path(link).symlink_to(folder / "tmp")
    printed = {"output": job.stdout, "stdout": job.stdout, "stderr": job.stderr}.get(workload.log)
    env = harness.arm(replace(plan, log=Path(printed) if printed else None), folder, workload.env)
    return replace(job, env={**env, **(job.env or {})})


def _job_of(workload: Workload, folder: Path) -> Job:
    marker = secrets.token_hex(8)
    # A link to `tmp`, as Unix sockets in a temporary folder must be named in some 100 bytes.
    short_tmp = str(Path(tempfile.gettempdir(), f"cutset-{marker}"))
    stdout, stderr = _PRINTED.get(workload.log, _PRINTED["output"])
    return Job(
        command=workload.command,
        cwd=str((workload.cwd or folder / "work").absolute()),
        env={"TMPDIR": short_tmp, MARKER: marker},
        stdout=str(folder / stdout),
        stderr=str(folder / stderr),
        logs="" if workload.log in _PRINTED else workload.log,
        links=(short_tmp,),
        grace_s=0.0,  # a round is over when its time is
        timeout_s=workload.timeout_s,
        quiet_s=workload.quiet_s,
        output_limit=OUTPUT_LIMIT,
    )


def _read_record(workload: Workload, plan: ArmedRound, job: Job, report: JobReport, harness: Harness) -> RoundRecord:
    folder = Path(job.stdout).parent
    logs = _logs(workload, job)
    told = harness.report(plan, folder, logs)
    problems = [*filter(None, [report.problem]), *told.problems]
    if not logs:
        problems.append(f"the round has no log: no file where it ran matches `{workload.log}`")
    status = report.status
    record = RoundRecord(
        folder=folder,
        work=Path(job.cwd or "."),
        ended=report.ended,
        exit_code=status if status is not None and status >= 0 else None,
        signal=-status if status is not None and status < 0 else None,
        wall_s=report.wall_s,
        cpu_s=report.cpu_s,
        silent_s=report.silent_s,
        outputs=tuple(map(Path, dict.fromkeys((job.stdout, job.stderr)))),
        logs=logs,
        fired=told.fired,
        fired_ground=told.fired_ground,
        visits=told.visits,
        problems=tuple(problems),
    )
    (folder / "meta.json").write_text(json.dumps(meta_of(record), indent=1))
    return record


def _logs(workload: Workload, job: Job) -> tuple[Path, ...]:
    if workload.log in _PRINTED:
        return (Path(job.stderr if workload.log == "stderr" else job.stdout),)
    folder = Path(job.stdout).parent
    return tuple(path if path.is_relative_to(folder) else _moved(path, folder / "logs") for path in _log_files(job))


def _log_files(job: Job) -> list[Path]:
    folder = job.cwd or "."
    names = glob(job.logs, root_dir=folder, recursive=True)  # noqa: PTH207 - the pattern may be absolute
    return [path for name in sorted(names) if (path := Path(folder, name)).is_file()]


def _moved(path: Path, folder: Path) -> Path:
    """Out of the way of the next round, which may append to the same file."""
    target = folder / path.relative_to(path.anchor)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(path, target)
    return target
