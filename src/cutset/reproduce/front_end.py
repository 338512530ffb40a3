"""What a search needs of a language: its programs read, their log records recognised, faults for their sites.

What it needs while a round runs is the `Harness` of `rounds`, which a front end is, too. `python/` has one.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.site import FaultKind, FiredFault, Site
from cutset.reproduce.graph.causal import CausalGraph
from cutset.reproduce.logs.recognition import Sighting
from cutset.reproduce.progress import Progress, nobody_watches
from cutset.reproduce.rounds.harness import Harness
from cutset.reproduce.settings import FailureCase


@dataclass(frozen=True, slots=True)
class SiteEffect:
    text: str  # as in `SiteFault`
    why: str
    cost: int  # in steps


@dataclass(frozen=True, slots=True)
class ProposedSource:
    """That may be in question, when a case is begun."""

    name: str  # as `FailureCase.sources` has it
    why: str


# Of the number of a site, and of the types that lead from it to a message (none: any will do): best first.
EffectsOf = Callable[[int, Sequence[str]], list[SiteEffect]]


class AnalysedProgram(Protocol):
    @property
    def sites(self) -> Sequence[Site]: ...

    @property
    def files(self) -> int: ...

    @property
    def paths(self) -> Sequence[str]:
        """Of all files that were looked at: their functions make calling contexts."""
        ...

    @property
    def lines(self) -> int: ...

    @property
    def skipped(self) -> Sequence[str]:
        """Files that could not be read, with reasons."""
        ...

    def recognise(self, record: LogRecord) -> Sequence[Sighting]:
        """By the call that wrote it, by its stack trace, or both; none if the program has no part in it."""
        ...

    def called_before(self, sighting: Sighting) -> frozenset[str]:
        """The names of what is called where an exception would lead to the message; none if it needs no exception."""
        ...

    def arising(self, records: Iterable[LogRecord]) -> Mapping[int, Sequence[str]]:
        """By site: the exceptions that the records' stack traces show arising there (ANDURIL §8.4)."""
        ...

    def contexts(self, records: Iterable[LogRecord]) -> Mapping[int, Sequence[str]]:
        """By site: how the calling contexts begin that the records' stack traces show it in."""
        ...

    def effects(self, failure: Sequence[LogRecord], kinds: Collection[FaultKind], delay_s: float) -> EffectsOf: ...

    def causal_graph(self, sightings: Iterable[Sighting]) -> CausalGraph: ...

    def may_run(self, executed: Mapping[str, frozenset[int]]) -> Mapping[str, frozenset[int]]:
        """With the functions that ran, as in `Harness.executed`, those that a fault may cause to run."""
        ...


class FrontEnd(Harness, Protocol):
    any_exception: str  # an effect: one that says nothing by its type

    def read_program(
        self, case: FailureCase, progress: Progress = nobody_watches, cache: Path | None = None
    ) -> AnalysedProgram:
        """The cache is a folder for what other searches read as well."""
        ...

    def write_replay(self, folder: Path, case: FailureCase, faults: Sequence[FiredFault]) -> Path:
        """A script that shows the failure again, with neither a search nor Cutset, and a test that fails until then."""
        ...
