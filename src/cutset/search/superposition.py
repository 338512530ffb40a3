"""What failures do together, foretold from what they do alone; and what a run of many proves of a few.

Exact certificates decide a set by a run of what fires of it. To decide small sets by one run of many faults takes more:

- *(V) Calls appear and vanish by causes seen.* What a set calls is called in the run of some part of it, unless its
  largest parts agree that it is not called.
- *(M) Failures that were seen to do together what they do alone do not need each other.* A set survives if a larger one
  did, in a run that *shows* what the set is expected to do.

What a set is *expected* to do is a superposition: each call is answered as in the largest observed parts of the set
that changed it; parts that disagree *clash*. A set is *witnessed* if its parts cover it and, where one part changes how
another's call is made (by whom, how often), both were observed together. A run is *explained* if each answer in it was
seen in a smaller run. Where runs vary, or where traces do not tell, nothing is inferred.

Delays add up, and other failures cut them short: a run shows a set with slow faults only if the request, and each call
that it did not fault itself, took at least as long as the parts' own delays take one after the other, to within half of
the shortest delay that was seen, since clocks are noisy. Where that cannot be told, such sets are not inferred.

(M) is wrong where one handler judges several failures jointly, with one failure making up for others: "fail if Y and Z
failed, unless X failed, too". The run of {X, Y, Z} shows all that Y and Z do, and survives.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from cutset.search.alike import representatives, stand_in
from cutset.search.bitset import bits
from cutset.search.elements import Elements
from cutset.search.observed_run import NOT_CALLED, REQUEST, AnswersSeen, ObservedRun, statuses

LEAST_QUANTUM = 20  # milliseconds: shorter delays are lost in the noise of clocks and schedulers


@dataclass(frozen=True, slots=True)
class OpenSet:
    cut: int
    may_be_merged: bool  # its parts were seen and do not clash, so that it may well survive along with others


class Superposition:
    """By classes: effects that look alike stand for each other, besides."""

    def __init__(self, elements: Elements, *, by_classes: bool = False) -> None:
        self.elements = elements
        self.leaves: dict[int, ObservedRun] = {}  # by what fired
        self.is_usable = True
        self.own: dict[int, int] = {}  # of each fault: the smallest set that it was observed in
        self._by_classes = by_classes
        self._expected: dict[int, dict[int, set[AnswersSeen]]] = {}
        self._explained: dict[int, bool] = {}
        self._alike: dict[int, int] | None = None

    def learn(self, fired: int, leaf: ObservedRun) -> None:
        known = self.leaves.get(fired)
        if known is not None:
            self.is_usable &= known.is_same(leaf)  # else runs vary
            return
        for other_fired, other in self.leaves.items():
            if other_fired & fired == other_fired:
                leaf.note_changes(other)
            elif other_fired & fired == fired:
                other.note_changes(leaf)
        self.leaves[fired] = leaf
        for fault in bits(fired):
            if fault not in self.own or fired.bit_count() < self.own[fault].bit_count():
                self.own[fault] = fired
        self._expected, self._explained, self._alike = {}, {}, None

    def whole(self, cut: int) -> int:
        return self.elements.whole(cut)

    def open_sets(self, settled: Collection[int], accepted: Collection[int], max_size: int) -> Iterator[OpenSet]:
        """What nothing decides, the smallest first: surviving sets are extended by the calls that they (may) make."""
        level = {0: self.leaves[0].called}
        for _ in range(max_size):
            following: dict[int, int] = {}
            opened: set[int] = set()
            for survivor, called in level.items():
                for fault in bits(called & ~self.whole(survivor)):
                    cut = survivor | fault
                    if cut in following or cut in opened or any(known & cut == known for known in settled):
                        continue
                    if cut not in accepted and cut not in self.leaves:
                        if self.leaf_of(cut) is not None or self.never_fires(cut):
                            continue
                        representative = self.representative(cut, settled)
                        if not self._is_decided(representative, accepted):
                            if representative not in opened:
                                opened.add(representative)
                                yield OpenSet(representative, self.may_be_merged(representative))
                            continue
                        following[cut] = self.may_call(cut) | self.may_call(representative)
                        continue
                    following[cut] = self.leaves[cut].called if cut in self.leaves else self.may_call(cut)
            level = following

    def representative(self, cut: int, settled: Collection[int]) -> int:
        """The set that stands for this one, maybe itself. What contains a settled one stands for nothing."""
        if not self._by_classes or cut.bit_count() == 1:
            return cut
        if self._alike is None:
            self._alike = representatives(self.leaves, self.elements, self.quantum())
        found = stand_in(cut, self._alike, self.leaves, self.elements)
        stands = found == cut or (not any(known & found == known for known in settled) and not self.never_fires(found))
        return found if stands else cut

    def _is_decided(self, cut: int, accepted: Collection[int]) -> bool:
        return cut in accepted or cut in self.leaves or self.leaf_of(cut) is not None or self.is_inferred(cut)

    def leaf_of(self, cut: int) -> ObservedRun | None:
        """The run that this set leads to, if it was observed: it agrees with the set on all that it called."""
        return next((leaf for fired, leaf in self.leaves.items() if _agree(cut, fired, leaf)), None)

    def is_inferred(self, cut: int) -> bool:
        return self.shown_by(cut) is not None

    def shown_by(self, cut: int) -> int | None:
        """By (M): what fired in a run that proves it. Single failures are not inferred: each is tried by itself."""
        larger = [fired for fired in self.leaves if cut & fired == cut != fired]
        if cut.bit_count() == 1 or not larger or not self.is_witnessed(cut) or not self.is_timed(cut):
            return None
        return next((fired for fired in larger if self.is_explained(fired) and self.shows(fired, cut)), None)

    def decided_by(self, cut: int, settled: Collection[int]) -> int | None:
        """What fired in a run that proves that this set survives, whether or not all of the set ever fires."""
        if 0 not in self.leaves:
            return None
        if (representative := self.representative(cut, settled)) != cut:
            return self.decided_by(representative, settled)
        for fault in bits(cut):
            if cut != fault and self.expected(cut & ~fault).get(self.whole(fault)) == {NOT_CALLED}:
                return self.decided_by(cut & ~fault, settled)
        agreeing = (fired for fired, leaf in self.leaves.items() if _agree(cut, fired, leaf))
        return next(agreeing, None) if (found := self.shown_by(cut)) is None else found

    def may_be_merged(self, cut: int) -> bool:
        if cut.bit_count() == 1 or not self.is_witnessed(cut) or not self.is_timed(cut):
            return False
        return all(len(answers) == 1 or point & cut for point, answers in self.expected(cut).items())

    def may_call(self, cut: int) -> int:
        """By (V)."""
        called = self.leaves[0].called
        for _, leaf in self.parts(cut):
            called |= leaf.called
        for point, answers in self.expected(cut).items():
            if answers == {NOT_CALLED}:
                called &= ~point
        return called

    def never_fires(self, cut: int) -> bool:
        """In a set that fires as a whole, each fault's call is made when all the others fail."""
        if cut.bit_count() == 1:
            return False
        return any(self.expected(cut & ~fault).get(self.whole(fault)) == {NOT_CALLED} for fault in bits(cut))

    def parts(self, cut: int) -> Iterator[tuple[int, ObservedRun]]:
        return ((fired, leaf) for fired, leaf in self.leaves.items() if fired and fired & cut == fired)

    def expected(self, cut: int) -> dict[int, set[AnswersSeen]]:
        """By point: the answers in the largest parts that changed them. Several: these parts clash."""
        if cut not in self._expected:
            self._expected[cut] = self._foretold(cut)
        return self._expected[cut]

    def _foretold(self, cut: int) -> dict[int, set[AnswersSeen]]:
        base = self.leaves[0].answers
        if leaf := self.leaf_of(cut):
            points = base.keys() | leaf.answers.keys()
            now = {point: leaf.answers.get(point, NOT_CALLED) for point in points}
            return {point: {answer} for point, answer in now.items() if answer != base.get(point, NOT_CALLED)}
        found: dict[int, list[tuple[int, AnswersSeen]]] = {}
        for fired, leaf in self.parts(cut):
            for point, answer in leaf.changed.items():
                found.setdefault(point, []).append((fired, answer))
        return {
            point: {answer for fired, answer in told if not any(more & fired == fired != more for more, _ in told)}
            for point, told in found.items()
        }

    def is_witnessed(self, cut: int) -> bool:
        base, covered = self.leaves[0].answers, 0
        for fired, leaf in self.parts(cut):
            covered |= fired
            if not any(self.own[fault] == fired for fault in bits(fired)):
                continue
            for fault in bits(cut & ~fired & leaf.called):
                point = self.whole(fault)
                moved = point in base and leaf.answers[point] != base[point]
                if moved and fired | fault not in self.leaves:
                    return False
        return covered == cut

    def shows(self, fired: int, cut: int) -> bool:
        """Whether this run did all that the set is expected to do."""
        answers, expected = self.leaves[fired].answers, self.expected(cut)
        for point, foretold in expected.items():
            if not point & fired and {answers.get(point, NOT_CALLED)} != foretold:
                return False
        for _, part in self.parts(cut):
            for point, answer in part.changed.items():  # a fault fires as often as it would
                if point & fired and len(answers.get(point, NOT_CALLED)) < len(answer):
                    return False
        for fault in bits(cut):  # and is answered as it would be
            point = self.whole(fault)
            alone = self.leaves[self.own[fault]].answers[point]
            if answers.get(point, NOT_CALLED) not in expected.get(point, {alone}):
                return False
        return self._took_long_enough(fired, cut)

    def is_timed(self, cut: int) -> bool:
        """Whether it can be told of a run that it took as long as this set would."""
        if not self.elements.slow(cut):
            return True
        timed = all(REQUEST in self.leaves[each].took for each in (0, *(self.own[fault] for fault in bits(cut))))
        return timed and self.quantum() >= LEAST_QUANTUM

    def quantum(self) -> int:
        """The shortest time, in milliseconds, that a slow fault alone was seen to take."""
        usual = self.leaves[0].took
        delays = []
        for fault, leaf in self.leaves.items():
            point = self.whole(fault)
            if fault.bit_count() == 1 and self.elements.slow(fault) and point in usual:
                delays.append(leaf.took.get(point, 0) - usual[point])
        return max(1, min(delays, default=1))

    def _took_long_enough(self, fired: int, cut: int) -> bool:
        """To within half of the shortest delay. Where it failed a call itself, it may have been shorter."""
        if not self.elements.slow(cut):
            return True
        took, usual, slack = self.leaves[fired].took, self.leaves[0].took, self.quantum() / 2
        if REQUEST not in took:
            return False
        for fault in bits(self.elements.slow(cut)):
            point = self.whole(fault)
            if took.get(point, 0) < self.leaves[self.own[fault]].took.get(point, 0) - slack:
                return False
        points = {point for _, part in self.parts(cut) for point in part.took if not point & fired}
        return all(took.get(point, 0) >= usual.get(point, 0) + self._excess(cut, point) - slack for point in points)

    def _excess(self, cut: int, point: int) -> int:
        """How much longer it takes there: the sum of the single faults, or less where parts were seen to take less."""
        usual = self.leaves[0].took.get(point, 0)
        single = dict.fromkeys(bits(cut), 0)
        for fault in single:
            own = self.own[fault]
            if own & cut == own:
                single[fault] = max(0, self.leaves[own].took.get(point, 0) - usual)
        excess = sum(single.values())
        for fired, part in self.parts(cut):
            others = sum(each for fault, each in single.items() if not fault & fired)
            excess = min(excess, max(0, part.took.get(point, 0) - usual) + others)
        return excess

    def is_explained(self, fired: int) -> bool:
        if fired not in self._explained:
            self._explained[fired] = self._is_explained(fired)
        return self._explained[fired]

    def _is_explained(self, fired: int) -> bool:
        smaller = [leaf.answers for other, leaf in self.leaves.items() if other & fired == other != fired]
        for point, answer in self.leaves[fired].answers.items():
            if any(known.get(point) == answer for known in smaller):
                continue
            alone = self.leaves[self.own[point & fired]].answers[point] if point & fired else NOT_CALLED
            if not statuses(answer) <= statuses(alone):
                return False
        return True


def _agree(cut: int, fired: int, leaf: ObservedRun) -> bool:
    return fired & cut == fired and not cut & leaf.called & ~fired
