"""What failures do together, foretold from what they do alone; and what a run of many proves of a few.

Exact certificates decide a set by a run of what fires of it. To decide small sets by one run of many faults takes more:

- *(V) Calls appear and vanish by causes seen.* What a set calls is called in the run of some part of it, unless its
  largest parts agree that it is not called.
- *(M) Failures that were seen to do together what they do alone do not need each other.* A set survives if a larger one
  did, in a run that *shows* what the set is expected to do.

What a set is *expected* to do is a superposition: each call is answered as in the largest observed parts of the set
that changed it; parts that disagree *clash*. A set is *witnessed* if its parts cover it and, where one part changes how
another's call is made (by whom, how often), both were observed together. A run is *explained* if each answer in it was
seen in a smaller run. All of it is about statuses, so that it needs faults that answer; where they delay, where runs
vary, or where traces do not tell, nothing is inferred.

(M) is wrong where one handler judges several failures jointly, with one failure making up for others: "fail if Y and Z
failed, unless X failed, too". The run of {X, Y, Z} shows all that Y and Z do, and survives.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from cutset.search.bitset import bits

Answers = Mapping[int, tuple[str, ...]]  # by point: each answer with its caller, sorted; none: it was not called
NOT_CALLED: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """A surviving run, as bit sets of points."""

    called: int
    answers: Answers
    changed: dict[int, tuple[str, ...]] = field(default_factory=dict)  # against some run of fewer of its faults


@dataclass(frozen=True, slots=True)
class OpenSet:
    cut: int
    may_be_merged: bool  # its parts were seen and do not clash, so that it may well survive along with others


class Superposition:
    def __init__(self) -> None:
        self.leaves: dict[int, ObservedRun] = {}  # by what fired
        self.is_usable = True
        self.own: dict[int, int] = {}  # of each fault: the smallest set that it was observed in
        self._expected: dict[int, dict[int, set[tuple[str, ...]]]] = {}
        self._explained: dict[int, bool] = {}

    def learn(self, fired: int, called: int, answers: Answers) -> None:
        known = self.leaves.get(fired)
        if known is not None:
            self.is_usable &= (known.called, known.answers) == (called, answers)  # else runs vary
            return
        leaf = ObservedRun(called, answers)
        for other_fired, other in self.leaves.items():
            if other_fired & fired == other_fired:
                _note_changes(other, leaf)
            elif other_fired & fired == fired:
                _note_changes(leaf, other)
        self.leaves[fired] = leaf
        for fault in bits(fired):
            if fault not in self.own or fired.bit_count() < self.own[fault].bit_count():
                self.own[fault] = fired
        self._expected, self._explained = {}, {}

    def open_sets(self, settled: Collection[int], accepted: Collection[int], max_size: int) -> Iterator[OpenSet]:
        """What nothing decides, the smallest first: surviving sets are extended by the calls that they (may) make."""
        level = {0: self.leaves[0].called}
        for _ in range(max_size):
            following: dict[int, int] = {}
            opened: set[int] = set()
            for survivor, called in level.items():
                for point in bits(called & ~survivor):
                    cut = survivor | point
                    if cut in following or cut in opened or any(known & cut == known for known in settled):
                        continue
                    if cut in accepted:
                        following[cut] = self.may_call(cut)
                    elif cut in self.leaves:
                        following[cut] = self.leaves[cut].called
                    elif self.leaf_of(cut) is not None or self.never_fires(cut):
                        continue
                    elif self.is_inferred(cut):
                        following[cut] = self.may_call(cut)
                    else:
                        opened.add(cut)
                        yield OpenSet(cut, self.may_be_merged(cut))
            level = following

    def leaf_of(self, cut: int) -> ObservedRun | None:
        """The run that this set leads to, if it was observed: it agrees with the set on all that it called."""
        return next((leaf for fired, leaf in self.leaves.items() if _agree(cut, fired, leaf)), None)

    def is_inferred(self, cut: int) -> bool:
        return self.shown_by(cut) is not None

    def shown_by(self, cut: int) -> int | None:
        """By (M): what fired in a run that proves it. Single failures are not inferred: each is tried by itself."""
        larger = [fired for fired in self.leaves if cut & fired == cut != fired]
        if cut.bit_count() == 1 or not larger or not self.is_witnessed(cut):
            return None
        return next((fired for fired in larger if self.is_explained(fired) and self.shows(fired, cut)), None)

    def decided_by(self, cut: int) -> int | None:
        """What fired in a run that proves that this set survives, whether or not all of the set ever fires."""
        if 0 not in self.leaves:
            return None
        for fault in bits(cut):
            if cut != fault and self.expected(cut & ~fault).get(fault) == {NOT_CALLED}:
                return self.decided_by(cut & ~fault)
        agreeing = (fired for fired, leaf in self.leaves.items() if _agree(cut, fired, leaf))
        return next(agreeing, None) if (found := self.shown_by(cut)) is None else found

    def may_be_merged(self, cut: int) -> bool:
        if cut.bit_count() == 1 or not self.is_witnessed(cut):
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
        return any(self.expected(cut & ~fault).get(fault) == {NOT_CALLED} for fault in bits(cut))

    def parts(self, cut: int) -> Iterator[tuple[int, ObservedRun]]:
        return ((fired, leaf) for fired, leaf in self.leaves.items() if fired and fired & cut == fired)

    def expected(self, cut: int) -> dict[int, set[tuple[str, ...]]]:
        """By point: the answers in the largest parts that changed them. Several: these parts clash."""
        if cut not in self._expected:
            self._expected[cut] = self._foretold(cut)
        return self._expected[cut]

    def _foretold(self, cut: int) -> dict[int, set[tuple[str, ...]]]:
        base = self.leaves[0].answers
        if leaf := self.leaf_of(cut):
            points = base.keys() | leaf.answers.keys()
            now = {point: leaf.answers.get(point, NOT_CALLED) for point in points}
            return {point: {answer} for point, answer in now.items() if answer != base.get(point, NOT_CALLED)}
        found: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
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
                moved = fault in base and leaf.answers[fault] != base[fault]
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
            alone = self.leaves[self.own[fault]].answers[fault]
            if answers.get(fault, NOT_CALLED) not in expected.get(fault, {alone}):
                return False
        return True

    def is_explained(self, fired: int) -> bool:
        if fired not in self._explained:
            self._explained[fired] = self._is_explained(fired)
        return self._explained[fired]

    def _is_explained(self, fired: int) -> bool:
        smaller = [leaf.answers for other, leaf in self.leaves.items() if other & fired == other != fired]
        for point, answer in self.leaves[fired].answers.items():
            if any(known.get(point) == answer for known in smaller):
                continue
            alone = self.leaves[self.own[point]].answers[point] if point & fired else NOT_CALLED
            if not _statuses(answer) <= _statuses(alone):
                return False
        return True


def _agree(cut: int, fired: int, leaf: ObservedRun) -> bool:
    return fired & cut == fired and not cut & leaf.called & ~fired


def _note_changes(less: ObservedRun, more: ObservedRun) -> None:
    for point in less.answers.keys() | more.answers.keys():
        answer = more.answers.get(point, NOT_CALLED)
        if answer != less.answers.get(point, NOT_CALLED):
            more.changed[point] = answer


def _statuses(answer: tuple[str, ...]) -> set[str]:
    return {each.partition("@")[0] for each in answer}
