"""Commands that try again, go on or undo, composed for whoever reads: from where they are and the ledger is."""

import shlex
from dataclasses import replace
from pathlib import Path

from cutset.model.hardening import MeshChanging
from cutset.model.impact import ImpactStarted, TrafficSource
from cutset.model.run import RunStarted

DEFAULT_STORE = Path(".cutset")
DEFAULT_CONFIG = Path("cutset.yaml")
PYTEST = "pytest"  # the command of campaigns whose requests are tests


def replay_command(started: RunStarted, store: Path) -> str:
    """It takes the id of a finding as its last word."""
    if started.command == PYTEST:
        return " ".join([_command(started, store), "--cutset-replay"])
    return f"{_command(started, store)} --replay"


def resume_command(started: RunStarted, store: Path) -> str:
    return f"{_command(started, store)} --resume"


def impact_command(started: RunStarted, asked: ImpactStarted, store: Path) -> str:
    """Does the same again; `…` stands for what the record does not hold: which recording, how many per second."""
    percents = {fault.percent for fault in asked.cut}
    rate = percents.pop() if len(percents) == 1 else 100
    words = [str(replace(fault, percent=100) if rate < 100 else fault) for fault in sorted(asked.cut)]
    words += ["--rate", f"{rate}%"] if rate < 100 else []
    words += ["--share" if len(asked.shares) == 1 else "--ramp", ",".join(f"{100 * each:g}%" for each in asked.shares)]
    words += {TrafficSource.LIVE: [], TrafficSource.LOAD: ["--load", "…"], TrafficSource.REPLAY: ["--replay", "…"]}[
        asked.traffic
    ]
    matching, user = asked.matching, asked.user
    said = [("--method", matching.method), ("--path", matching.path)]
    for option, wanted in (("--header", matching.headers), ("--cookie", matching.cookies), ("--query", matching.query)):
        said += [(option, f"{name}={value}" if value else name) for name, value in wanted.items()]
    said += [("--user-header", user.header), ("--user-cookie", user.cookie)]
    words += [word for option, value in said if value for word in (option, value)]
    return f"{_command(started, store)} {shlex.join(words)}".replace("'…'", "…")


def _command(started: RunStarted, store: Path) -> str:
    tested = started.command == PYTEST
    words = [PYTEST] if tested else ["cutset", started.command]
    config = from_here(Path(started.config)) if started.config else DEFAULT_CONFIG
    words += ["--cutset-config" if tested else "-c", str(config)] if config != DEFAULT_CONFIG else []
    kept = from_here(store)
    words += ["--cutset-store" if tested else "--store", str(kept)] if kept != DEFAULT_STORE else []
    return shlex.join(words)


def undo_command(change: MeshChanging, store: Path) -> str:
    """Puts the mesh back to what it was before its first change; empty if there is nothing to undo."""
    if not change.added:
        return ""
    if change.file and change.original:
        return shlex.join(["cp", str(from_here(change.original)), str(from_here(change.file))])
    return undo_by_record_command(store)


def undo_by_record_command(store: Path) -> str:
    """Whatever the latest hardening put, and wherever."""
    words = ["cutset", "harden", "--undo"]
    words += ["--store", str(from_here(store))] if from_here(store) != DEFAULT_STORE else []
    return shlex.join(words)


def from_here(path: Path) -> Path:
    """Relative to the working directory, if it is inside."""
    here, whole = Path.cwd(), path.absolute()
    return whole.relative_to(here) if whole.is_relative_to(here) else whole
