"""Failures whose cause is known, as searches and judgements need them, whatever language the program is in."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cutset.reproduce.front_end import FrontEnd
from cutset.reproduce.settings import FailureCase


@dataclass(frozen=True, slots=True)
class GroundTruth:
    sites: frozenset[str]  # the true one, and those with the same consequence for the same reason
    exceptions: frozenset[str]  # so, too; what makes them, as in `OSError(104, 'reset')`


def ground_truth(site: str, exception: str, equivalent: set[str]) -> GroundTruth:
    """What is equivalent to either: sites are told by their `::`."""
    sites = {each for each in equivalent if "::" in each}
    return GroundTruth(frozenset({site, *sites}), frozenset({exception, *(equivalent - sites)}))


class KnownFailure(Protocol):
    """A failure whose cause is known."""

    @property
    def name(self) -> str: ...

    @property
    def timeout_s(self) -> float: ...

    @property
    def truth(self) -> GroundTruth: ...

    @property
    def has_fix(self) -> bool:
        """Whether there is a fixed version."""
        ...

    @property
    def front_end(self) -> FrontEnd: ...

    def can_run(self) -> bool:
        """Whether what it needs is here; says why not."""
        ...

    def affected_case(self, environments: Path) -> FailureCase: ...

    def fixed_case(self, affected: FailureCase, environments: Path) -> FailureCase: ...

    def same_class(self, case: FailureCase, effect: str, exception: str) -> bool:
        """Whether an effect is an exception of the same class."""
        ...
