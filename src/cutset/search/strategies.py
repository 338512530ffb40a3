"""The strategies by name: Cutset's own, and those of the papers for comparison."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from cutset.search.cuts import CutSearch
from cutset.search.fastfi import FastFi
from cutset.search.intellifi import IntelliFi
from cutset.search.ldfi import Ldfi
from cutset.search.microfi import MicroFi
from cutset.search.strategy import Search, SearchSettings


class StrategyName(StrEnum):
    CUTS = "cuts"
    FASTFI = "fastfi"
    FASTFI_REPAIRED = "fastfi-repaired"
    MICROFI = "microfi"
    INTELLIFI = "intellifi"
    LDFI = "ldfi"


class AcrossRequests(StrEnum):
    """What a cut that fails one request class means for the others.

    FastFI §4.2.1 shows that the same failure may fail one caller and not another, so the default is to try it early
    and to believe nothing untested. MicroFI §4.4.3 trusts it.
    """

    VERIFY = "verify"
    TRUST = "trust"


@dataclass(frozen=True, slots=True)
class Strategy:
    start: Callable[[SearchSettings], Search]
    description: str  # one line, for help texts


STRATEGIES: Mapping[StrategyName, Strategy] = {
    StrategyName.CUTS: Strategy(CutSearch, "every minimal cut, with proof, in few experiments and rounds"),
    StrategyName.FASTFI: Strategy(FastFi, "FastFI as printed: only the cuts of the smallest size, one at a time"),
    StrategyName.FASTFI_REPAIRED: Strategy(
        partial(FastFi, repaired=True), "FastFI with its size growing as it should: cuts of all sizes, one at a time"
    ),
    StrategyName.MICROFI: Strategy(
        partial(MicroFi, one_per_path=True), "MicroFI as published: as LDFI, by impact, with shared history"
    ),
    StrategyName.INTELLIFI: Strategy(IntelliFi, "IntelliFI: as LDFI, but skips what a trace already shows failing"),
    StrategyName.LDFI: Strategy(
        partial(Ldfi, one_per_path=True),
        "LDFI as published with MicroFI: all candidates at once, one point of each path",
    ),
}
