"""What a search chooses from, as the bits of an `int`: faults, one for each effect that is tried at a point.

Sets of faults are plans, and a plan has at most one effect per point: others are no sets to decide. Calls are points
whichever replica serves; they have bits of their own.
"""

from collections.abc import Iterable
from dataclasses import replace

from cutset.model.effect import SLOW, SPOILS_ANSWER, EffectChoice
from cutset.model.fault import Cut, Fault
from cutset.model.outcome import Outcome
from cutset.model.point import Point
from cutset.search.bitset import bits


class Elements:
    """Points are numbered as they appear, with all their effects at once."""

    def __init__(self, effects: EffectChoice, others: Iterable[Fault] = ()) -> None:
        self.faults_of_call: list[int] = []  # at any of its replicas
        self._effects = effects
        self._others = sorted(others)  # besides what is chosen
        self._faults: list[Fault] = []
        self._bits: dict[Fault, int] = {}
        self._at: dict[Point, int] = {}  # all faults there
        self._whole: list[int] = []  # of each fault: all that exclude each other and it
        self._call_bits: dict[Point, int] = {}  # by point without replica
        self._call_of: list[int] = []  # of each fault
        self._replicas: dict[int, int] = {}  # of each call: how many were seen
        self._most_replicas = 0

    def __len__(self) -> int:
        return len(self._faults)

    def know(self, cut: Cut) -> bool:
        """Whether all of these faults are among those to be tried."""
        self.at(fault.point for fault in cut)
        return all(fault in self._bits for fault in cut)

    def to_bits(self, cut: Cut) -> int:
        self.at(fault.point for fault in cut)
        return sum(self._bits[fault] for fault in cut)

    def to_cut(self, cut: int) -> Cut:
        return frozenset(self._faults[bit.bit_length() - 1] for bit in bits(cut))

    def at(self, points: Iterable[Point]) -> int:
        """All faults at these points."""
        points = frozenset(points)
        for point in sorted(point for point in points if point not in self._at):  # in the same order in every process
            self._add(point)
        return sum(map(self._at.__getitem__, points))

    def has(self, point: Point) -> bool:
        """Whether it appeared so far."""
        return point in self._at

    def asked_for_in(self, outcome: Outcome) -> int:
        """All faults that would have fired, too: those for an n-th call only if there were so many calls."""
        found = self.at(outcome.calls | outcome.path)
        if outcome.seen:
            for bit in bits(found):
                fault = self._faults[bit.bit_length() - 1]
                if fault.effect.call > 1 and fault.effect.call > sum(
                    each.point == fault.point for each in outcome.seen
                ):
                    found &= ~bit
        return found

    def slow(self, cut: int) -> int:
        """Those that take time."""
        return sum(bit for bit in bits(cut) if self._faults[bit.bit_length() - 1].effect.kind in SLOW)

    def spoils(self, fault: int) -> bool:
        """Whether it makes an answer unreadable, which no status tells."""
        return self._faults[fault.bit_length() - 1].effect.kind in SPOILS_ANSWER

    def whole(self, cut: int) -> int:
        """All faults at the points of these."""
        found = 0
        for bit in bits(cut):
            found |= self._whole[bit.bit_length() - 1]
        return found

    def is_plan(self, cut: int) -> bool:
        """Whether it has at most one effect per point."""
        taken = 0
        for bit in bits(cut):
            if bit & taken:
                return False
            taken |= self._whole[bit.bit_length() - 1]
        return True

    def in_faults(self, calls: int) -> int:
        found = 0
        for call in bits(calls):
            found |= self.faults_of_call[call.bit_length() - 1]
        return found

    def in_calls(self, faults: int) -> int:
        calls = 0
        for fault in bits(faults):
            calls |= self._call_of[fault.bit_length() - 1]
        return calls

    def everything(self) -> int:
        return (1 << len(self._faults)) - 1

    def have_replicas(self) -> bool:
        """So that there may be others that nobody told of."""
        return any(point.replica for point in self._at)

    def tell_replicas_apart(self) -> bool:
        return self._most_replicas > 1

    def have_several_effects(self) -> bool:
        return any(faults & (faults - 1) for faults in self._at.values())

    def _add(self, point: Point) -> None:
        chosen = (Fault(point, effect) for effect in self._effects.at(point))
        faults = dict.fromkeys((*chosen, *(other for other in self._others if other.point == point)))
        first = 1 << len(self._faults)
        self._at[point] = whole = first * ((1 << len(faults)) - 1)
        call = self._call_bits.setdefault(replace(point, replica=""), 1 << len(self._call_bits))
        if call.bit_length() > len(self.faults_of_call):
            self.faults_of_call.append(0)
        self.faults_of_call[call.bit_length() - 1] |= whole
        self._replicas[call] = self._replicas.get(call, 0) + 1
        self._most_replicas = max(self._most_replicas, self._replicas[call])
        for number, fault in enumerate(faults):
            self._bits[fault] = first << number
            self._faults.append(fault)
            self._whole.append(whole)
            self._call_of.append(call)
