"""What happens in a search for the fault behind a failure, as it happens."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from cutset.reproduce.result import Fault, SearchResult
from cutset.reproduce.symptoms import Answer


class Stage(StrEnum):
    """What a round is for."""

    SINGLE = "one fault"
    SECOND = "a second fault on top"
    REPEAT = "again"
    MINIMISE = "simpler"
    ELSEWHERE = "other sites"


@dataclass(frozen=True, slots=True)
class GoodRunFinished:
    number: int
    of: int
    seconds: float
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Analysed:
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
    stage: Stage
    fired: tuple[Fault, ...]  # none: nothing that was armed occurred
    answer: Answer  # the oracle's
    reason: str
    missing: tuple[str, ...]  # messages of the failure log that this round did not show
    seconds: float
    ranking: tuple[RankedSite, ...]  # before this round: what was thought best, best first
    problems: tuple[str, ...]
    folder: Path


@dataclass(frozen=True, slots=True)
class Finished:
    result: SearchResult


Event = GoodRunFinished | Analysed | RoundFinished | Finished
