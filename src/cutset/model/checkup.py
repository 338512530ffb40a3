"""What a check-up of a set-up says, line by line."""

from dataclasses import dataclass
from enum import StrEnum


class LineState(StrEnum):
    WELL = "well"
    NOTE = "note"  # nothing is wrong, but findings may depend on it
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class CheckupLine:
    name: str  # what was looked at: `servers`, `mesh`, `spans`, …
    state: LineState
    text: str  # what was found
    remedy: str = ""  # what to do about it
    fatal: bool = False  # no experiment can be made until then


@dataclass(frozen=True, slots=True)
class Checkup:
    checks: tuple[CheckupLine, ...]
    export_interval: float  # seconds to wait for spans: as measured, or as configured if that could not be
    answered: frozenset[str] = frozenset()  # requests that work without faults

    @property
    def wrong(self) -> tuple[CheckupLine, ...]:
        return tuple(check for check in self.checks if check.state is LineState.WRONG)


def well(name: str, text: str) -> CheckupLine:
    return CheckupLine(name, LineState.WELL, text)


def note(name: str, text: str, remedy: str = "") -> CheckupLine:
    return CheckupLine(name, LineState.NOTE, text, remedy)


def wrong(name: str, text: str, remedy: str, *, fatal: bool = False) -> CheckupLine:
    return CheckupLine(name, LineState.WRONG, text, remedy, fatal)
