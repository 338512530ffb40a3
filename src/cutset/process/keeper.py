"""Runs a command that must not outlive us, nor leave anything behind: `python -I -S keeper.py [command…]`.

Its input is a pipe from us. When it closes, or we are no longer its parent, the command is ended with all that descends
from it. That covers every way in which a process can end, SIGKILL included. Without a command in its arguments, the
first line of its input is a job as JSON, with limits, and its output is a report.

A process is kept if it descends from the keeper, after a double fork too since the keeper adopts orphans, or if its
environment has the job's marker. Where there is no /proc, the command's process group has to do.
Starts in milliseconds: standard library only, no site.
"""

import contextlib
import ctypes
import glob
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

MARKER = "CUTSET_ROUND"
POLL_SECONDS = 0.1  # how late a flood, a time limit, or a parent whose pipe a forked child still holds, is noticed
CPU_SAMPLES = 8  # within the silence that counts as a hang: each reads all of /proc
IDLE_SHARE = 0.05  # of one processor: less is a program that only looks at its clocks and queues
GRACE_SECONDS = 3.0  # between the request to end and the order, for a command
REST_GRACE_SECONDS = 0.5  # for what else is left then to tidy up, such as shared memory
KILL_SECONDS = 10.0  # until we give up on processes that do not even follow SIGKILL, as those stuck in I/O

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_ON_LINUX = sys.platform == "linux"


class Ending(StrEnum):
    EXITED = "exited"  # by itself, or by a signal that is not ours
    TIMED_OUT = "timed out"
    HUNG = "hung"  # neither output nor work for the time that the job gives
    FLOODED = "flooded"  # too much output
    CANCELLED = "cancelled"
    NOT_STARTED = "not started"
    LOST = "lost"  # the keeper was killed, nobody knows how it ended


@dataclass(frozen=True, slots=True)
class Job:
    command: tuple[str, ...]
    cwd: str | None = None  # ours
    env: Mapping[str, str] | None = None  # likewise; the marker in it marks what belongs to the job
    stdout: str = ""  # file names, which may be the same; none: ours
    stderr: str = ""
    logs: str = ""  # a pattern of file names whose growth is output too, or nothing
    links: tuple[str, ...] = ()  # removed at the end
    grace_s: float = GRACE_SECONDS
    timeout_s: float = 0.0  # 0: it may take as long as it likes
    quiet_s: float = 0.0  # 0: it may be silent for as long as it likes
    output_limit: int = 0  # bytes; 0: none


@dataclass(frozen=True, slots=True)
class JobReport:
    ended: Ending
    status: int | None = None  # of the command if it ended by itself, negative for a signal
    wall_s: float = 0.0
    cpu_s: float = 0.0  # of all processes together
    silent_s: float = 0.0  # since the last output
    problem: str = ""


@dataclass(slots=True)
class _Watch:
    """What is known of the command while it runs."""

    job: Job
    process: int
    began: float
    last_output: float
    now: float
    output_bytes: int = 0
    status: int | None = None
    cpu_samples: list[tuple[float, float]] = field(default_factory=list)  # since the last output: clock, CPU seconds


def kept(*command: str) -> list[str]:
    """The command line that runs a command under a keeper."""
    return [sys.executable, "-I", "-S", __file__, *command]


def main(command: list[str]) -> int:
    parent = os.getppid()
    signals: list[int] = []
    wakeup = _hear_signals(signals)
    job = Job(tuple(command)) if command else Job(**json.loads(sys.stdin.buffer.readline()))

    def is_over() -> bool:
        """Waits a little first, or until something happens."""
        readable, _, _ = select.select([0, wakeup], [], [], POLL_SECONDS)
        if wakeup in readable:
            os.read(wakeup, 4096)
        return bool(signals) or os.getppid() != parent or (0 in readable and not os.read(0, 4096))

    try:
        report, status = _run(job, is_over)
    finally:
        for link in job.links:
            Path(link).unlink(missing_ok=True)
    if not command:
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(json.dumps(asdict(report)) + "\n")
            sys.stdout.flush()
        return 0
    if report.problem:
        sys.stderr.write(f"{report.problem}\n")
    if report.ended is Ending.NOT_STARTED:
        return 1
    return 128 + signals[0] if signals else abs(status or 0)


def _hear_signals(signals: list[int]) -> int:
    """What becomes readable at any signal. All have handlers: the command would inherit that they are ignored."""
    wakeup, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda number, _: signals.append(number))
    return wakeup


def _run(job: Job, wait: Callable[[], bool]) -> tuple[JobReport, int | None]:
    """And the status of the command, also where we ended it."""
    try:
        watch = _start(job)
    except OSError as error:
        problem = f"cannot run `{job.command[0]}`: {error}"
        return JobReport(Ending.NOT_STARTED, problem=problem), None
    try:
        while not (ended := _ending(watch)):
            if wait():
                ended = Ending.CANCELLED
                break
    finally:
        survivors = _end(watch)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = JobReport(
        ended,
        status=watch.status if ended is Ending.EXITED else None,
        wall_s=watch.now - watch.began,
        cpu_s=usage.ru_utime + usage.ru_stime,
        silent_s=watch.now - watch.last_output,
        problem=f"processes that cannot be ended: {survivors}" if survivors else "",
    )
    return report, watch.status


def _start(job: Job) -> _Watch:
    if _ON_LINUX:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    with contextlib.ExitStack() as files:
        # Appended to, so that what writes by a descriptor of its own does not overwrite the rest.
        stdout, stderr = (
            files.enter_context(Path(name).open("ab")) if name else None for name in (job.stdout, job.stderr)
        )
        began = time.monotonic()
        child = subprocess.Popen(
            job.command,
            cwd=job.cwd,
            env=job.env,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            preexec_fn=_die_with_parent if _ON_LINUX else None,  # noqa: PLW1509 - the keeper has one thread
        )
    child.returncode = 0  # `_reap` does it, together with the orphans
    return _Watch(job, child.pid, began, last_output=began, now=began)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _die_with_parent() -> None:
    """In case that the keeper is killed, too."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _ending(watch: _Watch) -> Ending | None:
    """None while it goes on."""
    _reap(watch)
    job, watch.now = watch.job, time.monotonic()
    written = _written(job)
    if written != watch.output_bytes:
        watch.output_bytes, watch.last_output = written, watch.now
        watch.cpu_samples.clear()
    if 0 < job.output_limit < written:
        return Ending.FLOODED
    if watch.status is not None:
        return Ending.EXITED
    if 0 < job.timeout_s <= watch.now - watch.began:
        return Ending.TIMED_OUT
    return Ending.HUNG if job.quiet_s and _is_idle(watch) else None


def _written(job: Job) -> int:
    """Bytes of output so far, of what goes to files."""
    folder = job.cwd or "."
    logs = glob.glob(job.logs, root_dir=folder, recursive=True) if job.logs else ()  # noqa: PTH207 - may be absolute
    return sum(_size(Path(folder, name)) for name in {job.stdout, job.stderr, *logs} if name)


def _is_idle(watch: _Watch) -> bool:
    """Neither output nor work for as long as the job says."""
    quiet_s, samples, now = watch.job.quiet_s, watch.cpu_samples, watch.now
    if samples and now - samples[-1][0] < quiet_s / CPU_SAMPLES:
        return False
    used = _cpu_seconds()
    samples.append((now, used))
    while len(samples) > 1 and now - samples[1][0] >= quiet_s:
        samples.pop(0)
    since, before = samples[0]
    return now - since >= quiet_s and used - before < IDLE_SHARE * (now - since)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # gone in the meantime
        return 0


def _reap(watch: _Watch) -> bool:
    """Whether there are children left, adopted ones included."""
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == watch.process:
                watch.status = os.waitstatus_to_exitcode(ended[1])
    except ChildProcessError:
        return False
    return True


def _end(watch: _Watch) -> list[int]:
    """The command first; what else is left gets a moment, but what is said then is no output of the command's."""
    sizes = {path: _size(path) for path in map(Path, filter(None, (watch.job.stdout, watch.job.stderr)))}
    _end_command(watch)
    _send(signal.SIGTERM, _processes(watch))
    began, pause = time.monotonic(), 0.001
    while (is_any_left := _is_any_left(watch)) and time.monotonic() < began + KILL_SECONDS:
        if time.monotonic() > began + REST_GRACE_SECONDS:
            _send(signal.SIGKILL, _processes(watch))
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
    for path, size in sizes.items():
        with contextlib.suppress(FileNotFoundError):
            os.truncate(path, min(size, watch.job.output_limit or size))
    return _processes(watch) if is_any_left else []


def _end_command(watch: _Watch) -> None:
    """By a request, if it is given time to follow one."""
    if watch.status is None and watch.job.grace_s:
        _send(signal.SIGTERM, [watch.process])
        began = time.monotonic()
        while watch.status is None and time.monotonic() < began + watch.job.grace_s:
            time.sleep(0.01)
            _reap(watch)
    if watch.status is None:
        _send(signal.SIGKILL, [watch.process])


def _is_any_left(watch: _Watch) -> bool:
    """By what the kernel knows of our children: a list of /proc can miss one that is just being forked."""
    if _ON_LINUX:
        return _reap(watch) or bool(_marked(watch.job))
    _reap(watch)
    try:
        os.killpg(watch.process, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _processes(watch: _Watch) -> list[int]:
    if _ON_LINUX:
        return [*(process for process, _ in _descendants()), *_marked(watch.job)]
    return [-watch.process]  # means the group, to os.kill


def _marked(job: Job) -> list[int]:
    return marked_processes(job.env[MARKER]) if job.env and MARKER in job.env else []


def marked_processes(marker: str) -> list[int]:
    """Those that were started with the marker in their environment."""
    entry, found = f"{MARKER}={marker}".encode(), []
    for folder in _all_processes():
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if entry in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def end_marked(marker: str) -> None:
    """For when the keeper was killed."""
    began = time.monotonic()
    while (processes := marked_processes(marker)) and time.monotonic() < began + KILL_SECONDS:
        _send(signal.SIGKILL, processes)
        time.sleep(0.01)


def _send(number: int, processes: Iterable[int]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _cpu_seconds() -> float:
    """Of the job so far; without /proc only of processes that have ended, so that silence alone decides."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime + sum(seconds for _, seconds in _descendants())


def _descendants() -> list[tuple[int, float]]:
    """With the seconds of CPU that each has used, those of its ended children included."""
    children: dict[int, list[tuple[int, float]]] = {}
    for folder in _all_processes():
        with contextlib.suppress(OSError):
            stat = (folder / "stat").read_bytes()
            fields = stat[stat.rindex(b")") + 2 :].split()  # the name before it may contain anything
            seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
            children.setdefault(int(fields[1]), []).append((int(folder.name), seconds))
    found = children.get(os.getpid(), [])
    for process, _ in found:  # grows as we go
        found.extend(children.get(process, ()))
    return found


def _all_processes() -> Iterator[Path]:
    return Path("/proc").glob("[0-9]*") if _ON_LINUX else iter(())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
