"""Traces as production has them, in any number: whole traces in order of arrival, drawn one by one, none kept.

Each is of one of the request classes of `request_classes.py`. Calls of services are seen from both sides, calls of data
stores and queues from their caller's alone. Requests arrive at random (Poisson), more of them by day than by night.

    python -m benchmarks.trace_generator --spans 100000 --seed 1 --format otlp-json --out traces.jsonl
"""

import argparse
import time
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import exp, pi, sin
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from benchmarks.request_classes import PROFILES, WORDS, Call, Half, Profile, RequestClass, Step, request_class, system
from benchmarks.trace_writers import COMPRESSIONS, FORMATS, write

from cutset.model.point import Point
from cutset.model.span import Span

START_NS = 1_767_571_200_000_000_000  # Monday, 5 January 2026, 00:00 UTC
HOUR_NS = 3_600_000_000_000
DAY_NS = 24 * HOUR_NS
DAY_AND_NIGHT = 0.6  # how much more than the mean there is at 15 o'clock, and how much less at 3
CLASSES_HELD = 2048  # the latest; some 50 kB each
HIT_RATE = 0.8
UNREACHED = 0.3  # of failures: the callee never saw the call, so its half is missing
MOST_ITEMS = 40


def generate(seed: int, profile: Profile, part: int = 0) -> Iterator[list[Span]]:
    """Without end; equal for equal arguments. In each trace the root is first, and callers before what they call.

    Spans share their mappings of attributes. Every part is other traffic of the same system, an hour later.
    """
    chance = Random(f"{seed} traces {part}")
    world = system(seed, profile)
    class_of = lru_cache(CLASSES_HELD)(lambda number: request_class(world, number))
    drawing = _Drawing(
        chance.random,
        chance.getrandbits,
        profile.failure_rate,
        [int(300_000 * exp(chance.gauss(0, 1))) for _ in range(4096)],
        [min(MOST_ITEMS, max(1, round(3 * exp(chance.gauss(0, 0.8))))) for _ in range(4096)],
    )
    now = START_NS + part * HOUR_NS
    while True:
        of_mean = 1 - DAY_AND_NIGHT * sin(2 * pi * (now % DAY_NS / DAY_NS + 1 / 8))
        now += int(chance.expovariate(profile.requests_per_second * of_mean) * 1e9)
        number = min(bisect(world.cumulated, chance.random()), profile.classes - 1)  # their sum is but nearly 1
        yield drawing.trace(class_of(number), now)


def limited(traces: Iterator[list[Span]], spans: int) -> Iterator[list[Span]]:
    """Whole traces, until there are at least so many spans."""
    while spans > 0:
        trace = next(traces)
        spans -= len(trace)
        yield trace


@dataclass(frozen=True, slots=True)
class ClassTruth:
    """What an analysis of a class's traces must find.

    Points of stores are `store/OPERATION collection`. A call that is made always is missing after a failure only.
    """

    name: str  # `GET /cart/{id}` where the entry service says its route, `GET /cart/*` where it does not
    entry: str  # service
    always: frozenset[Point]
    sometimes: frozenset[Point]
    after_failure: frozenset[Point]
    tolerated: frozenset[Point]  # those whose failure alone does not fail their caller: it goes on, or has a fallback
    fatal: frozenset[Point]  # those whose failure does; an API that is called in several places may be both

    @property
    def apis(self) -> frozenset[Point]:
        return self.always | self.sometimes | self.after_failure


def truth(seed: int, profile: Profile) -> Iterator[ClassTruth]:
    """Of all classes, the most popular first."""
    world = system(seed, profile)
    for number in range(profile.classes):
        made = request_class(world, number)
        always, possible = _without_failures(made.steps)
        handled, fatal = _tolerance(made.steps)
        yield ClassTruth(
            f"{made.method} {made.path if made.routed else made.path.replace('{id}', '*')}",
            made.entry.service,
            always,
            possible - always,
            frozenset((handled | fatal) - possible),
            frozenset(handled),
            frozenset(fatal),
        )


def _without_failures(steps: tuple[Step, ...]) -> tuple[frozenset[Point], frozenset[Point]]:
    """The calls that are always made, and all that may be."""
    always: set[Point] = set()
    possible: set[Point] = set()
    for step in steps:
        below = [_without_failures(call.steps) for call in step.calls]
        alternatives = [made | {call.point} for call, (made, _) in zip(step.calls, below, strict=True)]
        if step.chance == 1:
            always.update(frozenset.intersection(*alternatives))
        possible.update(*alternatives, *(other for _, other in below), _without_failures(step.on_miss)[1])
    return frozenset(always), frozenset(possible)


def _tolerance(steps: tuple[Step, ...], *, borne: bool = False) -> tuple[set[Point], set[Point]]:
    """The calls whose caller somewhere goes on when they fail, and those whose caller somewhere fails with them."""
    handled: set[Point] = set()
    fatal: set[Point] = set()
    for step in steps:
        tolerated = borne or step.tolerated
        has_fallback = step.fallback is not None
        goes_on = tolerated or has_fallback or bool(step.on_miss)
        (handled if goes_on else fatal).update(call.point for call in step.calls)
        parts = [_tolerance(call.steps) for call in step.calls]
        parts.append(_tolerance(step.on_miss, borne=tolerated or has_fallback))
        if step.fallback is not None:
            parts.append(_tolerance((step.fallback,), borne=tolerated))
        handled.update(*(part[0] for part in parts))
        fatal.update(*(part[1] for part in parts))
    return handled, fatal


@dataclass(slots=True)
class _Drawing:
    """Draws executions of request classes. It runs for each span, so it looks up what it can and computes little."""

    random: Callable[[], float]
    bits: Callable[[int], int]
    failure_rate: float
    durations: list[int]  # 4,096 ns values: what a service takes between two calls
    loops: list[int]  # 4,096 numbers of items
    trace_id: str = ""
    items: int = 0  # of this request: loops over them are equally long
    spans: list[Any] = field(default_factory=list)  # None where a span has begun and not ended yet

    def trace(self, made: RequestClass, begin: int) -> list[Span]:
        self.trace_id = f"{self.bits(128):032x}"
        self.items = self.loops[self.bits(12)]
        spans: list[Any] = [None]
        self.spans = spans
        entry, span_id = made.entry, f"{self.bits(64):016x}"
        replica = int(self.random() * len(entry.answered))
        end, failed = self._steps(made.steps, span_id, replica, begin, concurrent=False)
        end += self.durations[self.bits(12)]
        failed = failed or self.random() < self.failure_rate
        span = self._span(entry, span_id, "", begin=begin, end=end, replica=replica, failed=failed)
        path = made.path.replace("{id}", self._id(made.ids))
        spans[0] = replace(span, attributes={**span.attributes, "url.path": path})
        return spans

    def _id(self, kind: str) -> str:
        if kind == "numeric":
            return str(self.bits(20))
        if kind == "uuid":
            return str(UUID(int=self.bits(128), version=4))
        return "-".join(WORDS[self.bits(5)] for _ in range(3))

    def _steps(
        self, steps: tuple[Step, ...], caller_id: str, replica: int, begin: int, *, concurrent: bool
    ) -> tuple[int, bool]:
        """When the last one ends, and whether their caller fails by them: then no further one is begun."""
        end = begin
        for step in steps:
            if step.chance < 1 and self.random() >= step.chance:
                continue
            calls = step.calls
            call = calls[0] if len(calls) == 1 else calls[int(self.random() * len(calls))]
            for _ in range(self.items if step.per_item else 1):
                now = (begin if concurrent else end) + self.durations[self.bits(12)]
                now, failed = self._call(call, caller_id, replica, now)
                if step.on_miss and (failed or self.random() >= HIT_RATE):
                    now, failed = self._steps(step.on_miss, caller_id, replica, now, concurrent=False)
                if failed and step.fallback is not None:
                    now, failed = self._steps((step.fallback,), caller_id, replica, now, concurrent=False)
                end = max(end, now)
                if failed and not step.tolerated:
                    return end, True
        return end, False

    def _call(self, call: Call, caller_id: str, caller_replica: int, begin: int) -> tuple[int, bool]:
        """When it ends, and whether it failed."""
        place, span_id = len(self.spans), f"{self.bits(64):016x}"
        self.spans.append(None)
        end = begin + self.durations[self.bits(12)]
        failed = self.random() < self.failure_rate
        if call.callee is not None and not (failed and self.random() < UNREACHED):
            end, failed = self._serve(call, call.callee, span_id, end, failed)
            end += self.durations[self.bits(12)]
        self.spans[place] = self._span(
            call.caller, span_id, caller_id, begin=begin, end=end, replica=caller_replica, failed=failed
        )
        return end, failed

    def _serve(self, call: Call, callee: Half, caller_id: str, begin: int, failed: bool) -> tuple[int, bool]:  # noqa: FBT001
        """The callee's side, which makes no calls when it fails by itself."""
        place, span_id = len(self.spans), f"{self.bits(64):016x}"
        self.spans.append(None)
        replica = int(self.random() * len(callee.answered))
        end = inner_begin = begin + self.durations[self.bits(12)]
        inner_id = span_id
        if call.handler is not None:
            inner_id = f"{self.bits(64):016x}"
            self.spans.append(None)
        if not failed:
            end, failed = self._steps(call.steps, inner_id, replica, end, concurrent=call.concurrent)
        if call.handler is not None:
            end += self.durations[self.bits(12)]
            self.spans[place + 1] = self._span(
                call.handler, inner_id, span_id, begin=inner_begin, end=end, replica=replica, failed=failed
            )
        self.spans[place] = self._span(callee, span_id, caller_id, begin=begin, end=end, replica=replica, failed=failed)
        return end, failed

    def _span(
        self, half: Half, span_id: str, parent_id: str, *, begin: int, end: int, replica: int, failed: bool
    ) -> Span:
        return Span(
            self.trace_id,
            span_id,
            parent_id,
            half.service,
            half.name,
            half.kind,
            begin + half.skew_ns,
            end + half.skew_ns,
            failed,
            (half.failed if failed else half.answered)[replica],
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=100_000, help="the last trace is whole, so it may be a few more")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", choices=PROFILES, default="production")
    parser.add_argument("--requests-per-second", type=float, help="fewer, and the traces span more hours")
    parser.add_argument("--format", choices=FORMATS, default="otlp-json")
    parser.add_argument("--compress", choices=COMPRESSIONS, default="")
    parser.add_argument("--old-names", action="store_true", help="attributes as OpenTelemetry named them until 2023")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    begin = time.perf_counter()
    profile = PROFILES[options.profile]
    if options.requests_per_second:
        profile = replace(profile, requests_per_second=options.requests_per_second)
    traces = limited(generate(options.seed, profile), options.spans)
    written = write(traces, options.format, options.out, options.compress, old_names=options.old_names)
    seconds = time.perf_counter() - begin
    print(f"{written:,} spans in {seconds:.1f} s, {options.out.stat().st_size / 1e6:.1f} MB: {options.out}")


if __name__ == "__main__":
    main()
