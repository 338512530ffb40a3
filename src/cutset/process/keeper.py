"""Runs a service that must not outlive us, nor leave anything behind: `python -I -S keeper.py command…`.

Our input is a pipe from Cutset. When it closes, or Cutset is no longer our parent, the service is asked to end, and
after a while it is killed with all that descends from it: on Linux we adopt its orphans. That covers every way in which
Cutset can end, SIGKILL included. Starts in milliseconds: standard library only, no site.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

POLL_SECONDS = 0.1  # how late the end of the service, or of a parent whose pipe a child still holds, is noticed
GRACE_SECONDS = 3.0  # between the request to end and the order
KILL_SECONDS = 10.0  # until we give up on processes that do not even follow SIGKILL

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_ON_LINUX = sys.platform == "linux"


def main(command: list[str]) -> int:
    parent = os.getppid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    if _ON_LINUX:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        service = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_die_with_parent if _ON_LINUX else None,  # noqa: PLW1509 - the keeper has one thread
        )
    except OSError as error:
        sys.exit(f"cannot run `{command[0]}`: {error.strerror}")
    try:
        while service.poll() is None and os.getppid() == parent:
            readable, _, _ = select.select([0], [], [], POLL_SECONDS)
            if readable and not os.read(0, 1024):
                break
    finally:
        _end(service)
    return service.returncode


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _die_with_parent() -> None:
    """In case that the keeper itself is killed."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _end(service: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # we are at it
    if service.poll() is None:
        service.terminate()
    began = time.monotonic()
    while time.monotonic() < began + KILL_SECONDS:
        done = service.poll() is not None
        if done or time.monotonic() > began + GRACE_SECONDS:
            _kill(service.pid)
            if done and not _is_anyone_left():
                return
        time.sleep(0.02)


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    for child in _descendants():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(child, signal.SIGKILL)


def _is_anyone_left() -> bool:
    """Reaps on the way what we adopted."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*") if _ON_LINUX else ():
        with contextlib.suppress(OSError):
            stat = (folder / "stat").read_bytes()
            parent = int(stat[stat.rindex(b")") + 2 :].split()[1])  # the name before it may contain anything
            children.setdefault(parent, []).append(int(folder.name))
    found = list(children.get(os.getpid(), ()))
    for process in found:  # grows as we go
        found.extend(children.get(process, ()))
    return found


if __name__ == "__main__":
    sys.exit(abs(main(sys.argv[1:])))
