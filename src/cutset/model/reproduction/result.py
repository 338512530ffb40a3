"""What a search for the fault behind a failure found: for reports, for a replay."""

import sys
from dataclasses import dataclass, field
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
    observed: bool | None = None  # its function ran in the round that showed the failure; None: that is not known


class Grade(StrEnum):
    """How much of a failure was reproduced."""

    LOG = "the log is reproduced"  # nothing lacks, nothing contradicts
    MESSAGES = "the messages are reproduced"  # none lacks, none is added, but some have other values or are elsewhere
    SYMPTOM = "the symptom is reproduced"  # the oracle holds, but the logs differ
    NOTHING = "not reproduced"


def grade_of(standing: tuple[int, int]) -> Grade:
    """Of something that shows the symptom: messages tell what failed; their values, when."""
    unlike, values = standing
    return Grade.SYMPTOM if unlike else Grade.MESSAGES if values else Grade.LOG


@dataclass(frozen=True, slots=True)
class LogLine:
    line: int  # of its log, from 1
    text: str  # its first line


@dataclass(frozen=True, slots=True)
class LogAgreement:
    """What the log of a run has in common with the failure log, beyond what good runs log and what comes and goes."""

    explained: int = 0  # messages that set both apart from good runs
    lacking: tuple[LogLine, ...] = ()  # of the failure log, that the run has not: the first of each message
    added: tuple[LogLine, ...] = ()  # of the run, that the failure log has not
    values: int = 0  # messages that both have, but with other values or elsewhere, where that should be the same
    otherwise: tuple[LogLine, ...] = ()  # of these, the first of the failure log of each message
    apart: int = 0  # entries that one of them has more of, beyond what good runs differ by: says which is nearer


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
    agreement: LogAgreement = field(default_factory=LogAgreement)
    moments_left: bool = True  # its place is executed at others, too, at which this was not tried

    @property
    def standing(self) -> tuple[int, int]:
        """The smaller, the better the failure log is explained."""
        return self.unlike, self.agreement.values

    @property
    def grade(self) -> Grade:
        """One that no repeat shows again is a coincidence; and what has no other moment was not at another moment."""
        if self.repeats and not self.repeated:
            return Grade.NOTHING
        grade = grade_of(self.standing)
        return Grade.SYMPTOM if grade is Grade.MESSAGES and not self.moments_left else grade


class Language(StrEnum):
    """Of the program that failed."""

    PYTHON = "python"
    JVM = "jvm"


@dataclass(frozen=True, slots=True)
class CaseSummary:
    """The failure that was to be reproduced, in words."""

    sources: tuple[str, ...]  # packages, modules or files that were analysed
    command: tuple[str, ...]  # of the workload
    oracle: str
    log_lines: int  # of the failure log
    language: Language = Language.PYTHON


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
    stopped: str = ""  # why the search ended early, in words; "": it came to its end

    @property
    def grade(self) -> Grade:
        return self.best.grade if self.best else Grade.NOTHING

    @property
    def reproduced(self) -> bool:
        return self.grade is not Grade.NOTHING

    @property
    def equals(self) -> tuple[Reproduction, ...]:
        """Alternatives that explain the failure log as well as the best: which of them it was, is not known.

        All that bring its messages do, as nearer values tell a nearer moment, not what failed.
        """
        best = self.best
        if best is None:
            return ()
        as_good = best.standing if best.grade is not Grade.MESSAGES else (0, sys.maxsize)
        return tuple(each for each in self.alternatives if each.grade is best.grade and each.standing <= as_good)
