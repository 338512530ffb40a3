"""What a search for the fault behind a failure is given: the failure, and how to look for its cause."""

from dataclasses import dataclass

from cutset.model.reproduction.result import Language
from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.oracle.expression import Oracle
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.strategies import SiteStrategyName


@dataclass(frozen=True, slots=True)
class FailureCase:
    sources: tuple[str, ...]  # packages, modules or files to analyse
    search_path: tuple[str, ...]  # where what runs the workload finds them
    drivers: tuple[str, ...]  # scripts that drive them: read, but without faults
    failure_log: str
    workload: Workload
    oracle: Oracle
    log_pattern: str | None = None
    prints: bool | None = None  # what `print` writes is log, too; None: if the failure log has the format of no logger
    runtime: str = ""  # what runs the workload, if it is known: an interpreter, a `java`
    language: Language = Language.PYTHON


@dataclass(frozen=True, slots=True)
class ReproductionSettings:
    rounds: int = 200  # at most, in all
    minutes: float = 0  # no round begins later; 0: no limit
    jobs: int = 1  # rounds at a time
    strategy: SiteStrategyName = SiteStrategyName.BEST_FIRST
    faults: tuple[FaultKind, ...] = tuple(FaultKind)
    delay_s: float = 5.0
    second_fault: bool = True  # when no fault alone will do
    minimise: bool = False  # and look for other sites that show the same symptom
    closer: int = 10  # rounds after the first reproduction, for one whose log is more like the failure log
    repeats: int = 2  # of what was found, to see how reliably it does it
