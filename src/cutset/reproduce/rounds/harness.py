"""What a round needs of a language: faults in the processes of a workload, and what these report (ANDURIL §4.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cutset.model.reproduction.site import Site, SiteFault, Visit
from cutset.reproduce.logs.dialect import LogDialect


@dataclass(frozen=True, slots=True)
class Workload:
    command: tuple[str, ...]
    timeout_s: float
    cwd: Path | None = None  # none: a new folder for each round
    env: Mapping[str, str] = field(default_factory=dict)  # on top of ours
    log: str = "output"  # that is, stdout and stderr together; or one of these; or a pattern of file names
    quiet_s: float = 0.0  # the round has hung after so long without output and work; 0: only the time limit counts


@dataclass(frozen=True, slots=True)
class ArmedRound:
    sites: Sequence[tuple[int, Site]] = ()  # that are watched, by their numbers; one may be at several places
    window: tuple[SiteFault, ...] = ()  # of these, the first that occurs fires
    ground: tuple[SiteFault, ...] = ()  # all of these fire as well
    records_visits: bool = True
    records_functions: bool = True  # which of the analysed files' ran
    analysed: Sequence[str] = ()  # paths of all files that were read: their functions make calling contexts
    log: Path | None = None  # that the run writes to, if it is one file that is there from the beginning
    cache: Path | None = None  # a folder that rounds share


@dataclass(frozen=True, slots=True)
class Firing:
    """The fault of a round, and the circumstances."""

    fault: SiteFault  # with the occurrence at which it fired, in all contexts together
    log_lines: int  # as in `Visit`
    process: int
    thread: str
    stack: tuple[str, ...]  # innermost frame last
    within: str = ""  # as in `Visit`
    nth: int = 0


@dataclass(frozen=True, slots=True)
class HookReport:
    """What the hook in the workload's processes left behind."""

    fired: Firing | None
    fired_ground: tuple[Firing, ...]  # in the order of the plan, as far as they fired
    visits: tuple[Visit, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LocatedSites:
    places: Mapping[Site, Sequence[Site]]  # by now: none, or several of which any may be loaded
    analysed: Sequence[str]  # as in `ArmedRound`


class Harness(Protocol):
    runtime: str  # what runs programs of the language: a replay takes another one by an option of this name

    @property
    def dialect(self) -> LogDialect: ...

    def arm(self, plan: ArmedRound, folder: Path, env: Mapping[str, str]) -> dict[str, str]:
        """Puts the hook into the folder of a round; the whole environment in which the workload's processes load it.

        `env` is the workload's own; it does not have to say what is inherited.
        """
        ...

    def report(self, plan: ArmedRound, folder: Path, logs: Sequence[Path]) -> HookReport:
        """`logs` is where the run's log is, by which it is told when something was."""
        ...

    def visits(self, folder: Path, logs: Sequence[Path]) -> tuple[Visit, ...]: ...

    def executed(self, folder: Path) -> Mapping[str, frozenset[int]]:
        """By path of an analysed file that was loaded: the first lines of its functions that ran, in any process.

        The first line is that of the first decorator, if there is one; lambdas are functions, too. A class inside a
        function is told by that function alone. Without `records_functions`, and of a folder that is gone: nothing.
        """
        ...

    def visit_counts(self, folder: Path) -> Mapping[int, int]:
        """How often the process that was there most often was at each site, as far as that is known."""
        ...

    def locate(
        self, sites: Mapping[Site, Sequence[str]], sources: Sequence[str], workload: Workload, runtime: str | None
    ) -> LocatedSites:
        """Where sites are by now, by the code that was around them; `sources` are those of the search."""
        ...

    def with_runtime(self, workload: Workload, runtime: str) -> Workload: ...
