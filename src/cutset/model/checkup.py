"""What a check-up of a set-up says, line by line."""

from dataclasses import dataclass
from enum import StrEnum


class CheckState(StrEnum):
    WELL = "well"
    NOTE = "note"  # nothing is wrong, but findings may depend on it
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Check:
    name: str  # what was looked at: `servers`, `mesh`, `spans`, …
    state: CheckState
    text: str  # what was found
    remedy: str = ""  # what to do about it
    fatal: bool = False  # no experiment can be made until then


@dataclass(frozen=True, slots=True)
class Checkup:
    checks: tuple[Check, ...]
    export_interval: (
        float  # seconds for which to wait for spans: as measured, or as configured if that was not possible
    )

    @property
    def wrong(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.state is CheckState.WRONG)


def well(name: str, text: str) -> Check:
    return Check(name, CheckState.WELL, text)


def note(name: str, text: str, remedy: str = "") -> Check:
    return Check(name, CheckState.NOTE, text, remedy)


def wrong(name: str, text: str, remedy: str, *, fatal: bool = False) -> Check:
    return Check(name, CheckState.WRONG, text, remedy, fatal)
