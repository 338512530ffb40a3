"""Commands that try again, go on or undo, composed for whoever reads: from where they are and the ledger is."""

import shlex
from pathlib import Path

from cutset.model.hardening import MeshChanging
from cutset.model.run import RunStarted

DEFAULT_STORE = Path(".cutset")
DEFAULT_CONFIG = Path("cutset.yaml")


def replay_command(started: RunStarted, store: Path) -> str:
    """It takes the id of a finding as its last word."""
    return f"{_command(started, store)} --replay"


def resume_command(started: RunStarted, store: Path) -> str:
    return f"{_command(started, store)} --resume"


def _command(started: RunStarted, store: Path) -> str:
    words = ["cutset", started.command]
    config = from_here(Path(started.config)) if started.config else DEFAULT_CONFIG
    words += ["-c", str(config)] if config != DEFAULT_CONFIG else []
    words += ["--store", str(from_here(store))] if from_here(store) != DEFAULT_STORE else []
    return shlex.join(words)


def undo_command(change: MeshChanging) -> str:
    """Puts the file of the mesh back to what it was before its first change; empty if there is nothing to undo."""
    return shlex.join(["cp", str(from_here(change.original)), str(from_here(change.file))]) if change.added else ""


def from_here(path: Path) -> Path:
    """Relative to the working directory, if it is inside."""
    here, whole = Path.cwd(), path.absolute()
    return whole.relative_to(here) if whole.is_relative_to(here) else whole
