"""A run: one campaign, session of drills, reproduction, hardening or impact, from start to end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Loop(StrEnum):
    CAMPAIGN = "campaign"
    DRILL = "drill"
    REPRODUCTION = "reproduction"
    HARDENING = "hardening"
    IMPACT = "impact"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The first event of every run; a resumption adds none."""

    loop: Loop
    run: str = ""  # its id
    # Digests of all that results depend on, by name: a run is resumed only under the same.
    fingerprint: Mapping[str, str] = field(default_factory=dict, hash=False)
    command: str = ""  # of `cutset` that began it, and replays what it found
    config: str = ""  # the absolute path of the configuration, where there is one
    part_of: str = ""  # the run that this one serves: a verification explores again on behalf of a hardening


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """It came to an end by itself. Each resumption may add another one."""

    reason: str = ""  # why something is left to resume; "" if nothing is
    seal: str = ""  # of all events so far, by whoever has the key; "" if the run had none


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What the ledger says of a run as a whole."""

    id: str
    started_at: float  # Unix seconds
    started: RunStarted
    finished: bool  # nothing is left to resume
