"""Binary decision diagrams: how likely some cut of a family occurs, exactly (Bryant 1986; Rauzy 1993 for fault trees).

A request fails if a cut occurs; a cut occurs if each of its clauses does, and a clause if one of its events does. A
diagram asks for one event after the other in a fixed order; equal questions are one node. So one pass from the ends up
gives the probability, however much the cuts overlap, and one pass down gives its derivatives. The pass up only adds and
multiplies numbers that are not negative, so that small probabilities are as exact as large ones.

The size of a diagram depends on the order, and can grow exponentially whatever the order, as the problem is #P-hard.
Nothing here recurses, so that the number of events is not limited by Python's stack.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

MAX_NODES = 300_000  # some 100 MB and three seconds
COMMON = 1 / 3  # the share of the cuts from which an event counts as common: best in trials of 0.05 to 0.5
FORCE_STEPS = 30  # orders of some hundred events settle within these

Event = TypeVar("Event", bound=Hashable)

_NEVER, _ALWAYS = 0, 1  # the two ends


class TooLargeError(Exception):
    """A diagram would need more nodes than allowed."""


class Diagrams(Generic[Event]):
    """Diagrams over events in one order, that share their nodes. A diagram is the number of its first node."""

    def __init__(self, order: Sequence[Event], max_nodes: int = MAX_NODES) -> None:
        self.order = tuple(order)
        self._max_nodes = max_nodes
        self._position = {event: position for position, event in enumerate(self.order)}
        # By node: the event that it asks for, and where to go if it does not occur, and if it does. Ends ask for
        # nothing, and come after all others. A node is made after those that it leads to.
        self._asks = [len(self.order)] * 2
        self._if_not, self._if_so = [_NEVER, _ALWAYS], [_NEVER, _ALWAYS]
        self._nodes: dict[tuple[int, int, int], int] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def cut(self, clauses: Iterable[Collection[Event]]) -> int:
        """Occurs if each of the clauses does."""
        return self._joined([self._clause(clause) for clause in clauses], _NEVER)

    def any_of(self, diagrams: Iterable[int]) -> int:
        return self._joined(diagrams, _ALWAYS)

    def probabilities(self, rates: Mapping[Event, float]) -> list[float]:
        """By diagram, when events occur independently at these rates."""
        rate = [rates[event] for event in self.order]
        values = [0.0, 1.0]
        for asks, if_not, if_so in zip(self._asks[2:], self._if_not[2:], self._if_so[2:], strict=True):
            values.append((1 - rate[asks]) * values[if_not] + rate[asks] * values[if_so])
        return values

    def gradient(self, diagram: int, rates: Mapping[Event, float]) -> dict[Event, float]:
        """How much more likely the diagram is if an event is certain than if it is impossible."""
        rate = [rates[event] for event in self.order]
        values = self.probabilities(rates)
        slopes = [0.0] * len(self.order)
        reached = [0.0] * diagram + [1.0]  # how likely the questions lead here
        for node in range(diagram, _ALWAYS, -1):
            if here := reached[node]:
                asks, if_not, if_so = self._asks[node], self._if_not[node], self._if_so[node]
                slopes[asks] += here * (values[if_so] - values[if_not])
                reached[if_not] += here * (1 - rate[asks])
                reached[if_so] += here * rate[asks]
        return dict(zip(self.order, slopes, strict=True))

    def _clause(self, events: Collection[Event]) -> int:
        diagram = _NEVER
        for position in sorted({self._position[event] for event in events}, reverse=True):
            diagram = self._node(position, diagram, _ALWAYS)
        return diagram

    def _node(self, asks: int, if_not: int, if_so: int) -> int:
        if if_not == if_so:
            return if_not
        key = (asks, if_not, if_so)
        node = self._nodes.get(key)
        if node is None:
            if len(self._nodes) >= self._max_nodes:
                raise TooLargeError
            node = self._nodes[key] = len(self._asks)
            self._asks.append(asks)
            self._if_not.append(if_not)
            self._if_so.append(if_so)
        return node

    def _joined(self, diagrams: Iterable[int], decisive: int) -> int:
        """Neighbours in pairs, those of the latest events first: the less two have in common, the cheaper it is."""
        pending = sorted(set(diagrams), key=lambda diagram: -self._asks[diagram]) or [1 - decisive]
        while len(pending) > 1:
            pairs = zip(pending[::2], pending[1::2], strict=False)
            pending = [self._join(one, other, decisive) for one, other in pairs] + pending[len(pending) & ~1 :]
        return pending[0]

    def _join(self, one: int, other: int, decisive: int) -> int:
        """Whether either (if what decides is `_ALWAYS`), or both (if it is `_NEVER`)."""
        known: dict[tuple[int, int], int] = {}

        def look_up(one: int, other: int) -> int | None:
            if decisive in {one, other}:
                return decisive
            if one in {other, 1 - decisive}:
                return other
            return one if other == 1 - decisive else known.get((one, other) if one < other else (other, one))

        pending = [(one, other)] if (joined := look_up(one, other)) is None else []
        while pending:
            one, other = pending[-1]
            asks = min(self._asks[one], self._asks[other])
            one_not, one_so = self._after(one, asks)
            other_not, other_so = self._after(other, asks)
            if_not, if_so = look_up(one_not, other_not), look_up(one_so, other_so)
            if if_not is None:
                pending.append((one_not, other_not))
            elif if_so is None:
                pending.append((one_so, other_so))
            else:
                joined = known[(one, other) if one < other else (other, one)] = self._node(asks, if_not, if_so)
                pending.pop()
        assert joined is not None
        return joined

    def _after(self, node: int, event: int) -> tuple[int, int]:
        """Where to go if the event does not occur, and if it does."""
        return (self._if_not[node], self._if_so[node]) if self._asks[node] == event else (node, node)


def good_order(cuts: Iterable[Iterable[Collection[Event]]]) -> list[Event]:
    """Common events first, the others close to those that they share a cut with.

    Once it is known whether a common event occurs, most cuts have nothing to do with each other any more. Such cuts
    stay apart, so that their diagrams just add up.
    """
    together = [list(dict.fromkeys(event for clause in cut for event in clause)) for cut in cuts]
    cuts_of: dict[Event, list[int]] = {}
    for number, events in enumerate(together):
        for event in events:
            cuts_of.setdefault(event, []).append(number)
    by_frequency = sorted(cuts_of, key=lambda event: -len(cuts_of[event]))
    order = {event: None for event in by_frequency if len(cuts_of[event]) > max(3, COMMON * len(together))}
    together = [[event for event in events if event not in order] for events in together]
    for start in by_frequency:
        if start not in order:
            order |= dict.fromkeys(_by_force(_connected(start, together, cuts_of), together, cuts_of))
    return list(order)


def _connected(
    start: Event, together: Sequence[Sequence[Event]], cuts_of: Mapping[Event, Sequence[int]]
) -> list[Event]:
    """By depth, the most frequent first: a start that is good already."""
    found: dict[Event, None] = {}
    pending = [start]
    while pending:
        event = pending.pop()
        if event not in found:
            found[event] = None
            others = {other: None for cut in cuts_of[event] for other in together[cut]}
            pending += sorted(others, key=lambda other: len(cuts_of[other]))
    return list(found)


def _by_force(
    events: list[Event], together: Sequence[Sequence[Event]], cuts_of: Mapping[Event, Sequence[int]]
) -> list[Event]:
    """FORCE (Aloul, Markov, Sakallah 2003): each event moves to the centre of its cuts, again and again."""
    cuts = sorted({cut for event in events for cut in cuts_of[event]})
    best, least = events, float("inf")
    for _ in range(FORCE_STEPS):
        place = {event: float(position) for position, event in enumerate(events)}
        places = {cut: [place[event] for event in together[cut]] for cut in cuts}
        span = sum(max(each) - min(each) for each in places.values())
        if span < least:
            best, least = events, span
        centre = {cut: sum(each) / len(each) for cut, each in places.items()}
        pull = {event: sum(centre[cut] for cut in cuts_of[event]) / len(cuts_of[event]) for event in events}
        moved = sorted(events, key=pull.__getitem__)
        if moved == events:
            break
        events = moved
    return best
