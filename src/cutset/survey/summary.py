"""What stored traces come to, in a form that can be merged: of any parts of them, in any order, with the same result.

Its size grows with the number of distinct call structures, not with the number of traces.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cutset.model.call_tree import CallTree
from cutset.model.point import Point
from cutset.select.complexity import Weights, complexity

Kinds = Mapping[CallTree, int]


@dataclass(frozen=True, slots=True)
class Representative:
    """The most complex trace of a request class."""

    score: float
    trace_id: str
    calls: tuple[tuple[str, CallTree], ...]  # in the order in which they began, each with the service that made it


@dataclass(slots=True)
class ClassSummary:
    name: str
    service: str  # that the requests enter by
    representative: Representative
    kinds: dict[CallTree, int] = field(default_factory=dict)  # how many whole traces had each call structure
    torn: dict[CallTree, int] = field(default_factory=dict)  # the same of traces of which parts are missing
    spans: int = 0
    components: int = 0  # added up over traces
    total_ns: int = 0
    named_by_span: bool = False  # nothing but the name of a span tells what was asked for

    @property
    def traces(self) -> int:
        return sum(self.kinds.values()) + sum(self.torn.values())

    @property
    def failed(self) -> int:
        return sum(traces for kinds in (self.kinds, self.torn) for tree, traces in kinds.items() if tree.failed)

    def complexity(self, weights: Weights) -> float:
        """The mean of its traces'."""
        traces = self.traces
        return complexity(self.spans / traces, self.components / traces, self.total_ns / traces, weights)

    @property
    def judged(self) -> Kinds:
        """What conclusions are drawn from: whole traces, if there are any."""
        return self.kinds or self.torn


@dataclass(slots=True)
class Survey:
    classes: dict[str, ClassSummary] = field(default_factory=dict)
    headless: int = 0  # traces whose beginning is missing, so that they are of no known class
    # Who answered when an API called what its client names so.
    answers: dict[tuple[Point, Point], set[Point]] = field(default_factory=dict)

    @property
    def traces(self) -> int:
        return sum(summary.traces for summary in self.classes.values())

    @property
    def spans(self) -> int:
        return sum(summary.spans for summary in self.classes.values())

    @property
    def kinds(self) -> dict[CallTree, int]:
        """Of all classes together."""
        together: dict[CallTree, int] = {}
        for summary in self.classes.values():
            _add(together, summary.judged)
        return together


def absorb(survey: Survey, other: Survey) -> None:
    """Adds what the other has seen; the other must not be used any more."""
    survey.headless += other.headless
    for call, answered in other.answers.items():
        survey.answers.setdefault(call, set()).update(answered)
    for key, theirs in other.classes.items():
        ours = survey.classes.setdefault(key, theirs)
        if ours is theirs:
            continue
        ours.representative = better(ours.representative, theirs.representative)
        _add(ours.kinds, theirs.kinds)
        _add(ours.torn, theirs.torn)
        ours.spans += theirs.spans
        ours.components += theirs.components
        ours.total_ns += theirs.total_ns
        ours.named_by_span = ours.named_by_span or theirs.named_by_span


def concluded(survey: Survey) -> Survey:
    """With what only the whole shows: whom calls meant that reached nobody, and which classes share a name."""
    only = {call: point for call, (point, *others) in survey.answers.items() if not others}
    meant = {call: point for call, point in only.items() if call[1] != point}
    entered = Counter(summary.name for summary in survey.classes.values())
    classes = {}
    for summary in survey.classes.values():
        kinds, torn = (_renamed(kinds, meant) for kinds in (summary.kinds, summary.torn))
        name = summary.name if entered[summary.name] == 1 else f"{summary.service} {summary.name}"
        classes[name] = replace(summary, kinds=kinds, torn=torn)
    return replace(survey, classes=classes)


def better(one: Representative, other: Representative) -> Representative:
    """Equally complex ones by their ids, so that the order of merging does not matter."""
    return min(one, other, key=lambda candidate: (-candidate.score, candidate.trace_id))


def _renamed(kinds: Kinds, meant: Mapping[tuple[Point, Point], Point]) -> dict[CallTree, int]:
    named = {call[1] for call in meant}
    renamed: dict[CallTree, int] = {}
    for tree, traces in kinds.items():
        affected = any(call.point in named for call in tree.walk())
        _add(renamed, {_with_meant(tree, meant) if affected else tree: traces})
    return renamed


def _with_meant(tree: CallTree, meant: Mapping[tuple[Point, Point], Point]) -> CallTree:
    """Trees are at most `lineage.call_tree.MAX_DEPTH` deep, so that recursion is safe."""
    calls = []
    for call in tree.calls:
        inner = _with_meant(call, meant)
        point = meant.get((tree.point, call.point), call.point)
        calls.append(inner if point == call.point else replace(inner, point=point))
    if all(new is old for new, old in zip(calls, tree.calls, strict=True)):
        return tree
    return replace(tree, calls=tuple(sorted(calls)))


def _add(kinds: dict[CallTree, int], others: Kinds) -> None:
    for tree, traces in others.items():
        kinds[tree] = kinds.get(tree, 0) + traces
