"""What a search for the fault behind a failure found: for reports, for a replay."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from cutset.model.reproduction.site import FiredFault


class CausalKind(StrEnum):
    """The kinds of nodes of a causal graph (ANDURIL §4.1)."""

    LOCATION = "location"
    CONDITION = "condition"
    INVOCATION = "invocation"
    HANDLER = "handler"
    INTERNAL = "internal exception"
    NEW = "new exception"
    EXTERNAL = "external exception"


@dataclass(frozen=True, slots=True)
class CausalStep:
    """A place in the source through which a log message follows from a fault."""

    kind: CausalKind
    module: str
    function: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class FailureMessage:
    """Of the failure log, that good runs do not have; or that they have and the failure log does not."""

    line: int  # of the failure log
    text: str
    shown: bool  # by the run that reproduced the failure, too
    absent: bool  # it is missing from the failure log
    chain: tuple[CausalStep, ...]  # a shortest way from the fault to it, the fault first; () if none is known


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Faults with which the oracle holds. Two: the second on top of the first, neither does it alone."""

    faults: tuple[FiredFault, ...]
    round: int  # that showed it
    reason: str  # what the oracle said
    folder: Path  # of that round
    repeats: int  # so often it was tried again
    repeated: int  # so often the oracle held then
    messages: tuple[FailureMessage, ...]
    unlike: int = 0  # messages that set its log apart from the failure log
    group: str = ""  # other reproductions with the same group are one root cause: what they have in common, in words


@dataclass(frozen=True, slots=True)
class CaseSummary:
    """The failure that was to be reproduced, in words."""

    sources: tuple[str, ...]  # packages, modules or files that were analysed
    command: tuple[str, ...]  # of the workload
    oracle: str
    log_lines: int  # of the failure log


@dataclass(frozen=True, slots=True)
class ReproductionResult:
    case: CaseSummary
    best: Reproduction | None  # the one whose log is most like the failure log; minimised, if that was asked for
    alternatives: tuple[Reproduction, ...]  # other sites that show the same symptom
    first_found: Reproduction | None  # the same as `best` if nothing better was found
    rounds: int  # in all
    seconds: float
    summary: str  # how far the search got, in words
    remarks: tuple[str, ...] = ()  # what minimising showed
