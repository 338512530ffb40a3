"""What the laboratory starts and waits for: each process has a log of its own, and an error says which one to read."""

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 120  # seconds until something that does not come up is given up: machines of CI are slow


class LaboratoryError(Exception):
    """Something in the laboratory did not come up."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a laboratory finds what was built, and keeps what it makes."""

    binaries: Path
    run: Path

    def log(self, name: str) -> Path:
        return self.run / "logs" / f"{name}.log"


def spawn(
    place: Place, name: str, command: Sequence[str | Path], env: dict[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """In a session of its own, so that a Ctrl-C reaches the laboratory alone, which then ends everything in order."""
    path = place.log(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=env, cwd=place.run, start_new_session=True
        )


def run(*command: str | Path, env: dict[str, str] | None = None, given: str | None = None) -> str:
    done = subprocess.run(command, check=False, text=True, capture_output=True, env=env, input=given)
    if done.returncode:
        raise LaboratoryError(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def wait_for(what: str, ready: Callable[[], object], hint: Path | str, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise LaboratoryError(f"{what}: not ready after {seconds:.0f} s; read {hint}")
        time.sleep(0.1)
