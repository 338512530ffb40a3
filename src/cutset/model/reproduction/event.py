"""What happens in a search for the fault behind a failure, in the order in which it counts.

All are recorded before they count; a search that goes on later is told them.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from cutset.model.reproduction.result import Grade, LogAgreement, ReproductionResult, grade_of
from cutset.model.reproduction.site import FiredFault, SiteFault, Visit
from cutset.model.run import RunFinished, RunStarted


class RoundStage(StrEnum):
    """What a round is for."""

    SINGLE = "one fault"
    CLOSER = "next to one that did it"
    SECOND = "a second fault on top"
    REPEAT = "again"
    MINIMISE = "simpler"
    ELSEWHERE = "other sites"


class OracleAnswer(StrEnum):
    YES = "yes"
    NO = "no"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class GoodRunFinished:
    """Without a fault."""

    number: int
    of: int
    seconds: float
    problems: tuple[str, ...]
    logs: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramAnalysed:
    files: int
    lines: int
    seconds: float  # that reading and analysing them took
    sites: int
    related_sites: int  # that can lead to one of the messages
    visits: int  # of sites, in the good run
    unvisited: tuple[str, ...]  # packages that the workload never got to
    messages: tuple[str, ...]  # of the failure log, that have to be explained
    recognised: int  # entries of the failure log that a log statement or traceback of the source accounts for
    skipped: tuple[str, ...]  # files that could not be read, with reasons
    resumed: int  # rounds that are known from before an interruption


@dataclass(frozen=True, slots=True)
class RankedSite:
    site: str
    next_fault: str  # effect and occurrence
    why: str


@dataclass(frozen=True, slots=True)
class RoundFinished:
    number: int
    stage: RoundStage
    fired: FiredFault | None  # None: nothing that was armed occurred
    answer: OracleAnswer
    reason: str
    missing: tuple[str, ...]  # messages of the failure log that this round did not show
    seconds: float
    folder: Path
    problems: tuple[str, ...] = ()
    ranking: tuple[RankedSite, ...] = ()  # before this round: what was thought best, best first
    # What the search goes on with:
    window: tuple[SiteFault, ...] = ()  # that were armed
    size: int = 0  # of the window, in sites
    ground: tuple[SiteFault, ...] = ()  # faults on top of which the window was tried
    fired_ground: tuple[FiredFault, ...] = ()  # those of them that did fire
    shown: frozenset[str] = frozenset()  # keys of observables
    unlike: int = 0  # messages that set its log apart from the failure log
    visits: tuple[Visit, ...] = ()  # of sites that the good run does not visit
    logs: tuple[Path, ...] = ()
    agreement: LogAgreement = field(default_factory=LogAgreement)  # of each kind the first few lines
    early: frozenset[str] = frozenset()  # messages that no good run has, said before the fault fired: chance

    @property
    def faults(self) -> tuple[FiredFault, ...]:
        """All that fired."""
        return self.fired_ground if self.fired is None else (*self.fired_ground, self.fired)

    @property
    def standing(self) -> tuple[int, int]:
        """The smaller, the better its log explains the failure log."""
        return self.unlike, self.agreement.values

    @property
    def nearness(self) -> tuple[int, ...]:
        """Likewise, and of equal ones, how much of it is apart; a few entries more or less are chance."""
        return *self.standing, self.agreement.apart.bit_length()

    @property
    def reproduces(self) -> bool:
        return self.answer is OracleAnswer.YES and self.fired is not None

    @property
    def grade(self) -> Grade:
        """Of this round alone."""
        return grade_of(self.standing) if self.reproduces else Grade.NOTHING


@dataclass(frozen=True, slots=True)
class ReproductionFinished:
    result: ReproductionResult


ReproductionEvent = RunStarted | GoodRunFinished | ProgramAnalysed | RoundFinished | ReproductionFinished | RunFinished
