"""Runs a command that must not outlive us: `python -I -S tether.py command…`, with a pipe from us as its input.

When the pipe closes, or we are no longer its parent, the command is terminated. That covers every way in which a
process can end, SIGKILL included, on Linux and macOS alike. Starts in milliseconds: standard library only, no site.
"""

import os
import select
import signal
import subprocess
import sys

POLL_SECONDS = 0.1  # how late the end of the command, or of a parent whose pipe a forked child still holds, is noticed
GRACE_SECONDS = 5  # between the request to end and the order


def main(command: list[str]) -> int:
    parent = os.getppid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _leave)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        while child.poll() is None and os.getppid() == parent:
            readable, _, _ = select.select([0], [], [], POLL_SECONDS)
            if readable and not os.read(0, 1024):
                break
    finally:
        _end(child)
    return child.returncode


def _leave(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


if __name__ == "__main__":
    sys.exit(abs(main(sys.argv[1:])))
