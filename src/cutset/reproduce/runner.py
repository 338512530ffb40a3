"""One round: the workload with at most one fault, in processes, folders and an environment of its own (ANDURIL §5.2.5).

What a round leaves in its folder:

    run.log     what it printed (`stdout.log` and `stderr.log` if its log is one of them)
    meta.json   how it ended
    plan.json   what `cutset_agent.sites` was told; `out/` what it reported
    work/       where it ran, unless the workload has a folder of its own; `tmp/` its temporary files
    logs/       its log files, if it wrote them elsewhere
    sites/      the copy of `cutset_agent.sites` that it ran with: its interpreter may be another one, without Cutset
"""

import asyncio
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from glob import glob
from importlib.resources import files
from pathlib import Path
from typing import Any

from cutset.errors import UsageError
from cutset.model.reproduction import Choice, Visit
from cutset.process import warden
from cutset.process.warden import Ending, Job, Report
from cutset_agent.sites.visits import read_visits

OUTPUT_LIMIT = 100_000_000  # bytes: beyond, a log is not worth comparing and the disk is in danger
_PARTS_OF_HOOK = ("hook/sitecustomize.py", "runtime.py", "loading.py", "rewriting.py", "faults.py")
_APART = ("stdout.log", "stderr.log")
_PRINTED = {"output": ("run.log", "run.log"), "stdout": _APART, "stderr": _APART}  # by which of them is the log


@dataclass(frozen=True, slots=True)
class Workload:
    command: tuple[str, ...]
    timeout_s: float
    cwd: Path | None = None  # none: a new folder for each round
    env: Mapping[str, str] = field(default_factory=dict)  # on top of ours
    log: str = "output"  # that is, stdout and stderr together; or one of these; or a pattern of file names
    quiet_s: float = 0.0  # the round has hung after so long without output and work; 0: only the time limit counts


@dataclass(frozen=True, slots=True)
class Fired:
    """The fault of a round, and the circumstances."""

    choice: Choice  # with the occurrence at which it fired
    log_lines: int  # that the run had logged before
    process: int
    thread: str
    stack: tuple[str, ...]  # innermost frame last


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
    fired: Fired | None
    visits: tuple[Visit, ...]
    problems: tuple[str, ...]  # of the hook, and of ours in reading what it left
    first: tuple[Fired, ...] = ()  # faults of the plan's `first`, in its order, as far as they fired

    @property
    def succeeded(self) -> bool:
        return self.ended is Ending.EXITED and self.exit_code == 0


async def run_round(workload: Workload, plan: Mapping[str, Any], folder: Path) -> RoundRecord:
    """With a plan as in `cutset_agent.sites`, but for `out`, in a new folder. To cancel it ends all its processes."""
    job = await asyncio.to_thread(_prepare, workload, plan, folder)
    try:
        report = await supervise(job)
    finally:
        _remove_links(job)
    if report.ended is Ending.NOT_STARTED:
        raise UsageError(
            f"the workload `{' '.join(workload.command)}` does not start: {report.problem}",
            hint=f"It was to run in `{job.cwd}`: give programs and scripts by their absolute paths.",
        )
    record = await asyncio.to_thread(_read_record, workload, plan, job, report)
    if not record.logs and record.succeeded and not plan["choices"]:
        raise UsageError(
            f"The workload leaves no log, even without faults: no file in `{record.work}` matches `{workload.log}`",
            hint="Correct `--log-from`: a pattern of the files that it logs to, or `output`, `stdout`, `stderr`.",
        )
    return record


async def supervise(job: Job) -> Report:
    """Run a job under a warden. When we are cancelled or killed, it ends all processes of the job."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", warden.__file__),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C in a terminal is for us alone: we decide what it means
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(asdict(job)).encode() + b"\n")
        said = (await process.stdout.read()).decode(errors="replace")
    finally:
        process.stdin.close()  # which asks the warden to end everything
        await process.wait()
    try:
        fields = json.loads(said)
    except ValueError:
        await asyncio.to_thread(warden.end_round, job.env[warden.MARKER])
        return Report(Ending.LOST, problem=f"the warden of the round ended with {process.returncode}: {said[-500:]}")
    return Report(**{**fields, "ended": Ending(fields["ended"])})


def how_it_ended(record: RoundRecord) -> str:
    if record.ended is not Ending.EXITED:
        return f"it {record.ended} after {record.wall_s:.0f} s"
    return f"exit code {record.exit_code}" if record.signal is None else f"signal {record.signal}"


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
        "fired": None if record.fired is None else asdict(record.fired),
        "first": [asdict(fired) for fired in record.first],
        "problems": list(record.problems),
    }


def _prepare(workload: Workload, plan: Mapping[str, Any], folder: Path) -> Job:
    folder = folder.absolute()
    job = _job_of(workload, folder)
    if old := _log_files(job):
        raise UsageError(
            f"the log file `{old[0]}` is there before the round: old lines cannot be told from new ones",
            hint="Move it away. Rounds at a time must not share a folder with log files.",
        )
    folder.mkdir(parents=True)
    for name in ("work", "tmp", "out", "sites/hook"):
        (folder / name).mkdir(parents=True)
    for part in _PARTS_OF_HOOK:
        (folder / "sites" / part).write_bytes(files("cutset_agent").joinpath("sites", part).read_bytes())
    (folder / "plan.json").write_text(json.dumps({**plan, "out": str(folder / "out")}))
    for link in job.links:
        Path(link).symlink_to(folder / "tmp")
    return job


def _job_of(workload: Workload, folder: Path) -> Job:
    marker = secrets.token_hex(8)
    # A link to `tmp`, as Unix sockets in a temporary folder must be named in some 100 bytes.
    short_tmp = str(Path(tempfile.gettempdir(), f"cutset-{marker}"))
    stdout, stderr = _PRINTED.get(workload.log, _PRINTED["output"])
    return Job(
        command=workload.command,
        cwd=str((workload.cwd or folder / "work").absolute()),
        env=_environment(workload, folder) | {"TMPDIR": short_tmp, warden.MARKER: marker},
        stdout=str(folder / stdout),
        stderr=str(folder / stderr),
        logs="" if workload.log in _PRINTED else workload.log,
        links=(short_tmp,),
        timeout_s=workload.timeout_s,
        quiet_s=workload.quiet_s,
        output_limit=OUTPUT_LIMIT,
    )


def _environment(workload: Workload, folder: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CUTSET_")}
    env = inherited | {"PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"} | dict(workload.env)
    env["CUTSET_SITES"] = str(folder / "plan.json")
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder / "sites/hook"), env.get("PYTHONPATH")]))
    return env


def _remove_links(job: Job) -> None:
    for link in job.links:
        Path(link).unlink(missing_ok=True)


def _read_record(workload: Workload, plan: Mapping[str, Any], job: Job, report: Report) -> RoundRecord:
    folder = Path(job.stdout).parent
    out = folder / "out"
    problems = [report.problem] if report.problem else []
    problems += _read_problems(out / "problems.txt")
    if plan["files"] and not (out / "processes").exists():
        problems.append(
            "no interpreter of the workload loaded the hook: is it started with -I, -E or -S, or no Python?"
        )
    logs = _logs(workload, job)
    if not logs:
        problems.append(f"the round has no log: no file where it ran matches `{workload.log}`")
    status = report.status
    record = RoundRecord(
        folder=folder,
        work=Path(job.cwd),
        ended=report.ended,
        exit_code=status if status is not None and status >= 0 else None,
        signal=-status if status is not None and status < 0 else None,
        wall_s=report.wall_s,
        cpu_s=report.cpu_s,
        silent_s=report.silent_s,
        outputs=tuple(map(Path, dict.fromkeys((job.stdout, job.stderr)))),
        logs=logs,
        fired=_read_fired(out / "fired.json", problems),
        first=tuple(
            fired
            for number in range(len(plan.get("first", ())))
            if (fired := _read_fired(out / f"first.{number}.json", problems))
        ),
        visits=tuple(Visit(*fields) for fields in read_visits(str(out))),
        problems=tuple(problems),
    )
    (folder / "meta.json").write_text(json.dumps(meta_of(record), indent=1))
    return record


def _read_problems(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines() if path.exists() else []


def _read_fired(path: Path, problems: list[str]) -> Fired | None:
    if not path.exists():
        return None
    try:
        fields = json.loads(path.read_text())
        choice = Choice(fields["site"], fields["occurrence"], fields["effect"])
        return Fired(
            choice=choice,
            log_lines=fields["log_lines"],
            process=fields["process"],
            thread=fields["thread"],
            stack=tuple(fields["stack"]),
        )
    except (ValueError, KeyError) as error:  # its process was killed while it wrote
        problems.append(f"a fault fired, but what it was cannot be read: {error!r}")
        return None


def _logs(workload: Workload, job: Job) -> tuple[Path, ...]:
    if workload.log in _PRINTED:
        return (Path(job.stderr if workload.log == "stderr" else job.stdout),)
    folder = Path(job.stdout).parent
    return tuple(path if path.is_relative_to(folder) else _moved(path, folder / "logs") for path in _log_files(job))


def _log_files(job: Job) -> list[Path]:
    names = glob(job.logs, root_dir=job.cwd, recursive=True)  # noqa: PTH207 - the pattern may be absolute
    return [path for name in sorted(names) if (path := Path(job.cwd, name)).is_file()]


def _moved(path: Path, folder: Path) -> Path:
    """Out of the way of the next round, which may append to the same file."""
    target = folder / path.relative_to(path.anchor)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(path, target)
    return target
