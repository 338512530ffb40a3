"""What a search for the fault behind a failure found: for reports, for a replay."""

from dataclasses import dataclass
from pathlib import Path

from cutset.model.reproduction import Site
from cutset.reproduce.causal import Node


@dataclass(frozen=True, slots=True)
class Fault:
    """One that fired."""

    site: Site
    occurrence: int  # of the site in its process
    effect: str  # as in `Choice`
    why: str  # this effect was thought of
    log_lines: int  # that the run had logged before
    process: int  # 0 for the workload itself, then in order of their start
    thread: str
    stack: tuple[str, ...]  # `path:line in function`, innermost frame last

    def __str__(self) -> str:
        return f"{self.effect} at {self.site}, occurrence {self.occurrence}"


@dataclass(frozen=True, slots=True)
class Message:
    """Of the failure log, that good runs do not have; or that they have and the failure log does not."""

    line: int  # of the failure log
    text: str
    shown: bool  # by the run that reproduced the failure, too
    absent: bool  # it is missing from the failure log
    chain: tuple[
        Node, ...
    ]  # how it follows from the fault: a shortest causal path, the fault first; () if none is known


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Faults with which the oracle holds. Two: the second on top of the first, neither does it alone."""

    faults: tuple[Fault, ...]
    round: int  # that showed it
    reason: str  # what the oracle said
    folder: Path  # of that round
    repeats: int  # so often it was tried again
    repeated: int  # so often the oracle held then
    messages: tuple[Message, ...]
    unlike: int = 0  # messages that set its log apart from the failure log
    group: str = ""  # other reproductions with the same group are one root cause: what they have in common, in words


@dataclass(frozen=True, slots=True)
class SearchResult:
    best: Reproduction | None  # the one whose log is most like the failure log; minimised, if that was asked for
    alternatives: tuple[Reproduction, ...]  # other sites that show the same symptom
    first_found: Reproduction | None  # the same as `best` if nothing better was found
    rounds: int  # in all
    seconds: float
    summary: str  # how far the search got, in words
    remarks: tuple[str, ...] = ()  # what minimising showed
