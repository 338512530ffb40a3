"""Finds every minimal cut up to a given size, smallest first, by dynamic k-fault injection.

In the spirit of FastFI §3.2.2, Algorithm 2: a surviving request shows a path that a failing cut must hit, candidates
are the sets that hit all paths, and the size k grows only when no candidate of the present size is left. Two gaps of
the printed algorithm are closed:

- Algorithm 2 raises k only when its solver finds nothing, so one single point of failure hides every larger cut. Here
  k rises when the candidates of size k are *decided*.
- A path clause is unsound where a tolerated failure hides a mandatory call ("optional X, then Y only if X answered":
  the survivor of {X} does not call Y, so the clause says that Y is harmless). Here a survivor is a *certificate* with
  a condition. With P its path and E the faulted points whose call failed outright, it proves that a set H survives if
  H misses P, and either H contains E, or H touches no call that *vanished*: one that was made in a run whose E was
  smaller, but not in this one. We say that the certificate *covers* H.

Candidates are the sets that no certificate covers and that contain no failing set. They are found by branching: a set
that a certificate covers can only become uncovered by a point of that certificate's path (or, where the certificate
does not depend on E, by a vanished call). So every uncovered set is reached, and the enumeration is exact.

What the proof rests on: a request's behaviour depends on which calls fail, and a call that succeeded in a surviving run
succeeds again. A cut whose outcome stayed unknown is reported as undecided; its supersets are not tried.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from cutset.model.fault import points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.search.strategy import SearchResult


@dataclass(slots=True)
class _Certificate:
    """A surviving run, as bit sets: points, but for `calls` and `vanished`, which are APIs."""

    path: int
    failed: int
    calls: int
    vanished: int = 0


class CutSearch:
    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._size = 0  # the k of Algorithm 2: sets of this size are being decided
        self._points: list[Point] = []
        self._point_bits: dict[Point, int] = {}
        self._api_bits: dict[Point, int] = {}
        self._points_of_api: list[int] = []
        self._certificates: list[_Certificate] = []
        self._failing: list[int] = []
        self._undecided: list[int] = []
        self._pending: set[int] = set()
        self._left = 0

    def next_cuts(self, limit: int) -> list[Points]:
        while self._size <= self._max_size:
            candidates = sorted(self._uncovered(), key=int.bit_count)
            self._left = len(candidates)
            smallest = candidates[0].bit_count() if candidates else 0
            # A smaller set that is still out may fail and so rule this one out: wait for it.
            fresh = [cut for cut in candidates if cut not in self._pending and cut.bit_count() == smallest]
            if candidates:
                self._pending.update(fresh[:limit])
                return [self._to_points(cut) for cut in fresh[:limit]]
            self._size += 1
        return []

    def learn(self, outcome: Outcome) -> None:
        cut = self._to_bits(points_of(outcome.cut))
        self._pending.discard(cut)
        if outcome.verdict is Verdict.FAILED:
            self._failing = [known for known in self._failing if known & cut != cut] + [cut]
        elif outcome.verdict is Verdict.UNKNOWN:
            self._undecided.append(cut)
        else:
            self._certify(cut, outcome)

    def result(self) -> SearchResult:
        return SearchResult(
            minimal_cuts=tuple(self._to_points(cut) for cut in self._failing),
            complete_up_to=self._size - 1,
            finished=self._size > self._max_size,
            left=self._left,
            undecided=tuple(self._to_points(cut) for cut in self._still_undecided(self._zones())),
        )

    def _certify(self, cut: int, outcome: Outcome) -> None:
        # A point that succeeded despite its fault (a tolerated delay) was not relied on to be without one.
        path = self._to_bits(outcome.path) & ~cut
        new = _Certificate(path, self._to_bits(outcome.failed) & cut, self._to_api_bits(outcome.calls | outcome.path))
        for old in self._certificates:
            if _is_proper_subset(old.failed, new.failed):
                new.vanished |= old.calls & ~new.calls
            elif _is_proper_subset(new.failed, old.failed):
                old.vanished |= new.calls & ~old.calls
        self._certificates.append(new)

    def _uncovered(self) -> Iterator[int]:
        """All sets of at most `_size` points that no certificate covers and that contain no decided set."""
        zones = self._zones()
        blocked = self._failing + self._still_undecided(zones)
        seen = {0}
        stack = [0]
        while stack:
            candidate = stack.pop()
            if any(known & candidate == known for known in blocked):
                continue
            extensions = _ways_out(candidate, zones)
            if extensions is None:
                yield candidate
            elif candidate.bit_count() < self._size:
                for bit in _bits(extensions):
                    extended = candidate | bit
                    if extended not in seen:
                        seen.add(extended)
                        stack.append(extended)

    def _zones(self) -> list[tuple[_Certificate, int]]:
        """Each certificate with the points that unconditional coverage is about: its path and the vanished calls."""
        return [(known, known.path | self._of_apis(known.vanished)) for known in self._certificates]

    def _still_undecided(self, zones: list[tuple[_Certificate, int]]) -> list[int]:
        """Without those that another experiment has decided: by a certificate, or by a failing subset."""
        return [
            cut
            for cut in self._undecided
            if _ways_out(cut, zones) is None and not any(known & cut == known for known in self._failing)
        ]

    def _of_apis(self, apis: int) -> int:
        points = 0
        for bit in _bits(apis):
            points |= self._points_of_api[bit.bit_length() - 1]
        return points

    def _to_bits(self, points: Points) -> int:
        return sum(self._bit(point) for point in points)

    def _to_api_bits(self, points: Points) -> int:
        bits = 0
        for point in points:
            self._bit(point)
            bits |= self._api_bits[point.of_api]
        return bits

    def _bit(self, point: Point) -> int:
        if point not in self._point_bits:
            self._point_bits[point] = 1 << len(self._points)
            self._points.append(point)
            api = self._api_bits.setdefault(point.of_api, 1 << len(self._api_bits))
            if api.bit_length() > len(self._points_of_api):
                self._points_of_api.append(0)
            self._points_of_api[api.bit_length() - 1] |= self._point_bits[point]
        return self._point_bits[point]

    def _to_points(self, cut: int) -> Points:
        return frozenset(self._points[bit.bit_length() - 1] for bit in _bits(cut))


def _ways_out(candidate: int, zones: list[tuple[_Certificate, int]]) -> int | None:
    """The points of which at least one must be added before the candidate is uncovered; None if it already is."""
    for certificate, zone in zones:
        if not candidate & zone:
            return zone
        if not candidate & certificate.path and certificate.failed & candidate == certificate.failed:
            return certificate.path
    return None


def _is_proper_subset(inner: int, outer: int) -> bool:
    return inner != outer and inner & outer == inner


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest
        number ^= lowest
