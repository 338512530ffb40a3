"""What stored traces come to, in a form that can be merged: of any parts of them, in any order, with the same result.

Its size grows with the number of distinct call structures, not with the number of traces.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cutset.model.call_tree import CallTree

Kinds = Mapping[CallTree, int]


@dataclass(frozen=True, slots=True)
class Representative:
    """The most complex trace of a request class."""

    score: float
    trace_id: str
    calls: tuple[tuple[str, CallTree], ...]  # in the order in which they began, each with the service that made it


@dataclass(slots=True)
class ClassSummary:
    representative: Representative
    kinds: dict[CallTree, int] = field(default_factory=dict)  # how many traces had each call structure
    spans: int = 0
    components: int = 0  # added up over traces
    total_ns: int = 0
    named_by_span: bool = False  # nothing but the name of a span tells what was asked for

    @property
    def traces(self) -> int:
        return sum(self.kinds.values())

    @property
    def failed(self) -> int:
        return sum(traces for tree, traces in self.kinds.items() if tree.failed)


@dataclass(slots=True)
class Survey:
    classes: dict[str, ClassSummary] = field(default_factory=dict)

    @property
    def traces(self) -> int:
        return sum(of_class.traces for of_class in self.classes.values())

    @property
    def spans(self) -> int:
        return sum(of_class.spans for of_class in self.classes.values())

    @property
    def kinds(self) -> dict[CallTree, int]:
        """Of all classes together."""
        together: dict[CallTree, int] = {}
        for of_class in self.classes.values():
            _add(together, of_class.kinds)
        return together


def absorb(survey: Survey, other: Survey) -> None:
    """Adds what the other has seen; the other must not be used any more."""
    for name, theirs in other.classes.items():
        ours = survey.classes.setdefault(name, theirs)
        if ours is theirs:
            continue
        ours.representative = better(ours.representative, theirs.representative)
        _add(ours.kinds, theirs.kinds)
        ours.spans += theirs.spans
        ours.components += theirs.components
        ours.total_ns += theirs.total_ns
        ours.named_by_span = ours.named_by_span or theirs.named_by_span


def better(one: Representative, other: Representative) -> Representative:
    """Equally complex ones by their ids, so that the order of merging does not matter."""
    return min(one, other, key=lambda candidate: (-candidate.score, candidate.trace_id))


def _add(kinds: dict[CallTree, int], others: Kinds) -> None:
    for tree, traces in others.items():
        kinds[tree] = kinds.get(tree, 0) + traces
