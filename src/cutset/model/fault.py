"""A fault is an effect at a point; a cut is a set of faults, the plan of one experiment.

    fault  = point ":" effect ["," percent "%"] ["," "attempts=" n]
    effect = "abort(" http-status ")" | "grpc(" grpc-status ")" | "delay(" n "ms)"

    payment/Charge:abort(503)             every call is answered 503, on gRPC UNAVAILABLE
    payment/Charge:grpc(8),50%            half of the calls are answered RESOURCE_EXHAUSTED
    payment/Charge:abort(503),attempts=1  the first attempt only: a retry gets through

The empty cut is the baseline: "no fault" is a value and flows through the same code.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from cutset.errors import InputError
from cutset.model.point import Point


class EffectKind(StrEnum):
    ABORT = "abort"
    GRPC = "grpc"
    DELAY = "delay"


# What each kind's number may be. Envoy's fault filter refuses statuses outside 200–599.
_LIMITS = {
    EffectKind.ABORT: (200, 599, "an HTTP status"),
    EffectKind.GRPC: (1, 16, "a gRPC status"),
    EffectKind.DELAY: (1, 3_600_000, "milliseconds"),
}
_EFFECT = re.compile(r"(?P<kind>abort|grpc|delay)\((?P<value>[0-9]{1,7})(?P<unit>ms)?\)")
_FAULT = re.compile(
    r"(?P<point>.+):(?P<effect>[a-z]+\([^)]*\))(?:,(?P<percent>[0-9]{1,3})%)?(?:,attempts=(?P<attempts>[0-9]{1,3}))?"
)
_MISSPELT = re.compile(r":\s*(?:abort|grpc|delay)\b", re.IGNORECASE)  # else it would pass as part of an API's name


@dataclass(frozen=True, slots=True, order=True)
class Effect:
    kind: EffectKind
    value: int

    def __post_init__(self) -> None:
        low, high, meaning = _LIMITS[self.kind]
        if not low <= self.value <= high:
            raise InputError(f"`{self}`: expected {meaning} from {low} to {high}, found {self.value}")

    def __str__(self) -> str:
        return f"{self.kind}({self.value}{'ms' if self.kind is EffectKind.DELAY else ''})"

    @classmethod
    def parse(cls, text: str) -> "Effect":
        match = _EFFECT.fullmatch(text.strip())
        if match is None or (match["unit"] is not None) != (match["kind"] == "delay"):
            raise InputError(f"`{text}` is not an effect", hint="Write `abort(503)`, `grpc(14)` or `delay(250ms)`")
        return cls(EffectKind(match["kind"]), int(match["value"]))


UNAVAILABLE = Effect(EffectKind.ABORT, 503)


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    point: Point
    effect: Effect = UNAVAILABLE
    percent: int = 100
    attempts: int = 0  # only the first n attempts of a call; 0 means all

    def __post_init__(self) -> None:
        if not 1 <= self.percent <= 100:
            raise InputError(f"`{self}`: expected a percentage from 1 to 100, found {self.percent}")
        if not 0 <= self.attempts <= 99:
            raise InputError(f"`{self}`: expected 0 to 99 attempts, found {self.attempts}")

    def __str__(self) -> str:
        percent = f",{self.percent}%" if self.percent != 100 else ""
        attempts = f",attempts={self.attempts}" if self.attempts else ""
        return f"{self.point}:{self.effect}{percent}{attempts}"

    @classmethod
    def parse(cls, text: str) -> "Fault":
        """A bare point stands for the default effect."""
        match = _FAULT.fullmatch(text.strip())
        if match is None:
            if _MISSPELT.search(text):
                raise InputError(f"`{text}` is not a fault", hint="Write `service/API:abort(503),50%,attempts=1`")
            return cls(Point.parse(text.strip()))
        return cls(
            Point.parse(match["point"]),
            Effect.parse(match["effect"]),
            int(match["percent"] or 100),
            int(match["attempts"] or 0),
        )


Cut = frozenset[Fault]
BASELINE: Cut = frozenset()


def cut_of(points: Iterable[Point], effect: Effect = UNAVAILABLE) -> Cut:
    return frozenset(Fault(point, effect) for point in points)


def points_of(cut: Cut) -> frozenset[Point]:
    return frozenset(fault.point for fault in cut)


def format_cut(cut: Cut) -> str:
    return " + ".join(str(fault) for fault in sorted(cut)) or "nothing"
