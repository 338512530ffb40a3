"""What the published lineage-driven strategies share: surviving paths as clauses, and the sets that hit all of them.

LDFI as FastFI §2.1 tells it: every surviving request shows a path, a failing cut must contain a point of each path, so
the paths are the clauses of a monotone formula and its minimal solutions are the candidates. Whatever hits no path of
some survivor is taken to survive, which is unsound where a tolerated failure hides a mandatory call ("optional X, then
Y only if X answered": the survivor of {X} does not call Y, so {Y} is never tried).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from cutset.model.fault import Cut, Fault, points_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.search.strategy import SearchResult, SearchSettings


class Clauses:
    """A growing monotone formula, with the sets that satisfy it.

    `hitting_sets` visits every minimal hitting set once, in the order in which FastFI's Algorithm 2 pops what its
    Algorithm 1 returns, without materialising them: Algorithm 1 explores a clause's literals from the last to the
    first and keeps the first find of each set, so that popped from the end, a set's turn comes where a search from the
    first literal to the last finds it for the last time. Without `best_depth`, hence complete.
    """

    def __init__(self) -> None:
        self._numbers: dict[Point, int] = {}
        self._points: list[Point] = []
        self._literals: list[tuple[int, ...]] = []  # of each clause
        self._covers: list[int] = []  # of each point: bit i is set if it is in clause i
        self._neighbours: list[int] = []  # of each clause: those that it shares a point with, itself included

    def __len__(self) -> int:
        return len(self._literals)

    def add(self, path: Points) -> None:
        literals = tuple(self._number(point) for point in sorted(path))
        if literals in self._literals:
            return
        number = len(self._literals)
        self._literals.append(literals)
        neighbours = 1 << number
        for literal in literals:
            neighbours |= self._covers[literal]
            self._covers[literal] |= 1 << number
        for other in range(number):
            self._neighbours[other] |= (neighbours >> other & 1) << number
        self._neighbours.append(neighbours)

    def hit_by(self, cut: Points) -> bool:
        hit = 0
        for point in cut:
            if point in self._numbers:
                hit |= self._covers[self._numbers[point]]
        return hit == self._all()

    def hitting_sets(self, max_size: int) -> Iterator[Points]:
        for chosen in self._extend((), self._all(), 0, max_size):
            yield frozenset(self._points[number] for number in chosen)

    def hitting_once(self, max_size: int) -> Iterator[Points]:
        """The sets that have one point of each clause, and no more: minimal hitting sets, but not all of them."""
        for chosen in self._extend_once((), self._all(), max_size):
            yield frozenset(self._points[number] for number in chosen)

    def _extend_once(self, chosen: tuple[int, ...], missed: int, room: int) -> Iterator[tuple[int, ...]]:
        if not missed:
            yield chosen
        elif room:
            for literal in self._literals[_lowest(missed)]:
                covers = self._covers[literal]
                if covers & missed == covers:
                    yield from self._extend_once((*chosen, literal), missed & ~covers, room - 1)

    def _extend(self, chosen: tuple[int, ...], missed: int, banned: int, room: int) -> Iterator[tuple[int, ...]]:
        if not missed:
            yield chosen
            return
        if not self._can_be_hit(missed, room):
            return
        literals = [literal for literal in self._literals[_lowest(missed)] if not banned >> literal & 1]
        # Of a set's points in this clause, branch on the last one only: so each set is visited once, at its last turn.
        banned |= sum(1 << literal for literal in literals)
        for literal in literals:
            banned ^= 1 << literal
            still_missed = missed & ~self._covers[literal]
            if (room > 1 or not still_missed) and self._each_is_needed(extended := (*chosen, literal)):
                yield from self._extend(extended, still_missed, banned, room - 1)

    def _can_be_hit(self, missed: int, room: int) -> bool:
        """Not if more clauses than there is room for have no point in common."""
        while missed and room >= 0:
            missed &= ~self._neighbours[_lowest(missed)]
            room -= 1
        return room >= 0

    def _each_is_needed(self, chosen: tuple[int, ...]) -> bool:
        once = twice = 0
        for number in chosen:
            twice |= once & self._covers[number]
            once |= self._covers[number]
        return all(self._covers[number] & ~twice for number in chosen)

    def _all(self) -> int:
        return (1 << len(self._literals)) - 1

    def _number(self, point: Point) -> int:
        if point not in self._numbers:
            self._numbers[point] = len(self._points)
            self._points.append(point)
            self._covers.append(0)
        return self._numbers[point]


class LineageSearch(ABC):
    """Rounds, history and result. A strategy plans the rounds, and may predict cuts to fail instead of asking for them.

    The papers know failed calls, not how they fail: cuts are sets of points, with the one effect that is tried at each.

    What was tested is not asked again, nor what contains a failing or a predicted cut, even in the middle of a round.
    A cut whose outcome stayed unknown is neither failing nor surviving. Its supersets are not tried: as long as it hits
    every clause, they are no minimal solutions.
    """

    _assumption = "a call that served a surviving request keeps it alive whatever else fails"

    def __init__(self, settings: SearchSettings) -> None:
        self._settings = settings
        self._hints = frozenset(points_of(hint) for hint in settings.hints)
        self._clauses = Clauses()
        self._size = 0  # the k of FastFI's Algorithm 2: candidates of fewer points have been decided
        self._outcomes: dict[Points, Outcome] = {}
        self._failing: list[Points] = []  # only the minimal ones
        self._undecided: list[Points] = []
        self._predicted: list[Points] = []  # taken to fail without a test
        self._round: list[Points] = []  # what is left of it, the next one last
        self._pending: set[Points] = set()
        self._rounds = 0
        self._survivors = 0
        self._exhausted = False

    def ask(self, limit: int) -> list[Cut]:
        return list(map(self._faults, self._next(limit)))

    def _faults(self, points: Points) -> Cut:
        return frozenset(Fault(point, self._settings.effects.at(point)[0]) for point in points)

    def _next(self, limit: int) -> list[Points]:
        cuts = self._hand_out(limit)
        while not cuts and not self._pending and not self._round:
            self._round = self._plan()[::-1]
            if not self._round:
                self._exhausted = True
                return []
            self._rounds += 1
            cuts = self._hand_out(limit)
        return cuts

    def learn(self, outcome: Outcome) -> None:
        cut = points_of(outcome.cut)
        self._outcomes[cut] = outcome
        self._pending.discard(cut)
        self._exhausted = False
        if outcome.verdict is Verdict.UNKNOWN:
            self._undecided.append(cut)
        elif outcome.verdict is not Verdict.FAILED:
            self._survivors += 1
            # A point that succeeded despite its fault (a tolerated delay) was not relied on to be without one.
            relied_on = outcome.path - cut
            self._clauses.add(frozenset(point for point in relied_on if self._settings.effects.at(point)))
        elif not self._contains_failing(cut):
            self._failing = [known for known in self._failing if not cut < known] + [cut]
        self._reconsider()

    def result(self) -> SearchResult:
        return SearchResult(
            minimal_cuts=tuple(map(self._faults, self._failing)),
            complete_up_to=min([self._decided_up_to(), *(len(cut) - 1 for cut in self._predicted)]),
            finished=self._exhausted,
            left=len(self._round) + len(self._pending),
            undecided=tuple(map(self._faults, self._undecided)),
            rounds=self._rounds,
            predicted=tuple(map(self._faults, self._predicted)),
            certificates=self._survivors,
            assumption=self._assumption,
        )

    @abstractmethod
    def _plan(self) -> list[Points]:
        """The cuts of the next round in their order; nothing when the strategy has no more to ask."""

    def _decided_up_to(self) -> int:
        return self._size if self._exhausted else self._size - 1

    def _predicted_instead(self, _cut: Points) -> Points | None:
        """What is taken to fail, so that this cut is not asked for: itself, or a set that it is a part of."""
        return None

    def _admit(self, cut: Points) -> bool:
        """Whether to ask for it. What is predicted to fail is noted as such instead."""
        if self._is_settled(cut):
            return False
        predicted = self._predicted_instead(cut)
        if predicted is not None and predicted not in self._predicted:
            self._predicted.append(predicted)
        return predicted is None

    def _is_settled(self, cut: Points) -> bool:
        """By its own outcome, or by what is inside it."""
        return cut in self._outcomes or self._contains_failing(cut) or any(known <= cut for known in self._predicted)

    def _contains_failing(self, cut: Points) -> bool:
        return any(known <= cut for known in self._failing)

    def _hand_out(self, limit: int) -> list[Points]:
        cuts: list[Points] = []
        while self._round and len(cuts) < limit:
            cut = self._round.pop()
            if self._admit(cut):
                cuts.append(cut)
        self._pending.update(cuts)
        return cuts

    def _reconsider(self) -> None:
        """Whatever was open and has been decided now makes room for candidates that contain it."""
        open_before = len(self._undecided) + len(self._predicted)
        self._undecided = [cut for cut in dict.fromkeys(self._undecided) if self._is_open(cut)]
        self._predicted = [cut for cut in self._predicted if cut not in self._outcomes and self._is_open(cut)]
        if len(self._undecided) + len(self._predicted) < open_before:
            self._size = 0

    def _is_open(self, cut: Points) -> bool:
        return self._clauses.hit_by(cut) and not self._contains_failing(cut)


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
