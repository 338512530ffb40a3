"""A fault is an effect at a point; a cut is a set of faults, the plan of one experiment.

    fault  = point ":" effect ["," percent "%"]

    payment/Charge:abort(503)             every call is answered 503, on gRPC UNAVAILABLE
    payment/Charge:grpc(8),50%            half of the calls are answered RESOURCE_EXHAUSTED
    payment/Charge:abort(503),attempts=1  the first attempt only: a retry gets through

Effects are described in `cutset.model.effect`. The empty cut is the baseline: "no fault" is a value and flows through
the same code.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cutset.errors import InputError
from cutset.model.effect import UNAVAILABLE, Effect, EffectKind
from cutset.model.point import Point

_KINDS = "|".join(EffectKind)
_OPTIONS = r"(?:,[a-z]+=[0-9]+)*"
_FAULT = re.compile(
    rf"(?P<point>.+):(?P<effect>(?:{_KINDS}|[a-z-]+\([^()]*\)){_OPTIONS})(?P<percent>,[0-9]{{1,3}}%)?(?P<more>{_OPTIONS})"
)
# Else it would pass as part of an API's name.
_MISSPELT = re.compile(rf":\s*(?:{_KINDS})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    point: Point
    effect: Effect = UNAVAILABLE
    percent: int = 100

    def __post_init__(self) -> None:
        if not 1 <= self.percent <= 100:
            raise InputError(f"`{self}`: expected a percentage from 1 to 100, found {self.percent}")

    def __str__(self) -> str:
        percent = f",{self.percent}%" if self.percent != 100 else ""
        return f"{self.point}:{self.effect}{percent}"

    @property
    def always(self) -> bool:
        """Whether it is for every call at its point."""
        return self.percent == 100 and self.effect.for_every_call

    @classmethod
    def parse(cls, text: str) -> "Fault":
        """A bare point stands for the default effect."""
        match = _FAULT.fullmatch(text.strip())
        if match is None:
            if _MISSPELT.search(text):
                raise InputError(f"`{text}` is not a fault", hint="Write `service/API:abort(503),attempts=1,50%`")
            return cls(Point.parse(text.strip()))
        percent = int(match["percent"].strip(",%")) if match["percent"] else 100
        return cls(Point.parse(match["point"]), Effect.parse(match["effect"] + match["more"]), percent)


Cut = frozenset[Fault]
BASELINE: Cut = frozenset()


def cut_of(points: Iterable[Point], effect: Effect = UNAVAILABLE) -> Cut:
    return frozenset(Fault(point, effect) for point in points)


def points_of(cut: Cut) -> frozenset[Point]:
    return frozenset(fault.point for fault in cut)


def format_cut(cut: Cut) -> str:
    return " + ".join(str(fault) for fault in sorted(cut)) or "nothing"
