"""What stored traces come to: request classes, each with the call structures that were seen of it.

Its size grows with the number of distinct call structures, not with the number of traces.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cutset.model.call_tree import UNKNOWN, CallTree
from cutset.model.point import Point

Kinds = Mapping[CallTree, int]  # how many traces had each call structure


@dataclass(frozen=True, slots=True)
class Representative:
    """The most complex trace of a request class."""

    score: float
    trace_id: str
    calls: tuple[tuple[str, CallTree], ...] = ()  # in the order in which they began, each with the service that made it


@dataclass(frozen=True, slots=True)
class ClassSummary:
    name: str
    service: str  # that the requests enter by
    representative: Representative
    kinds: Kinds = field(default_factory=dict)  # of whole traces
    torn: Kinds = field(default_factory=dict)  # of traces of which parts are missing
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

    @property
    def judged(self) -> Kinds:
        """What conclusions are drawn from: whole traces, if there are any."""
        return self.kinds or self.torn


@dataclass(frozen=True, slots=True)
class Survey:
    classes: Mapping[str, ClassSummary] = field(default_factory=dict)
    headless: int = 0  # traces whose beginning is missing, so that they are of no known class
    # Who answered when an API called what its client names so.
    answers: Mapping[tuple[Point, Point], frozenset[Point]] = field(default_factory=dict)
    # By the names that services have for themselves: what the sidecars beside them call them.
    aliases: Mapping[str, frozenset[str]] = field(default_factory=dict)
    joined: int = 0  # spans without a parent in their trace whose caller something else proved
    # If it is of stored traces: the folder beside them in which conclusions are kept, and by what they depend on.
    kept: tuple[Path, str] | None = field(default=None, compare=False, repr=False)

    @property
    def traces(self) -> int:
        return sum(summary.traces for summary in self.classes.values())

    @property
    def spans(self) -> int:
        return sum(summary.spans for summary in self.classes.values())

    @property
    def orphans(self) -> int:
        """Calls whose caller nobody knows."""
        return sum(
            traces * sum(orphan.point.api != UNKNOWN for orphan in tree.orphans)
            for summary in self.classes.values()
            for kinds in (summary.kinds, summary.torn)
            for tree, traces in kinds.items()
        )

    @property
    def kinds(self) -> Kinds:
        """Of all classes together."""
        together: Counter[CallTree] = Counter()
        for summary in self.classes.values():
            together.update(summary.judged)
        return together


@dataclass(frozen=True, slots=True)
class Unread:
    """What could not be read, by one of few reasons."""

    reason: str
    times: int
    first_at: str


@dataclass(frozen=True, slots=True)
class Ingested:
    """What reading sources into the store came to."""

    sources: int
    spans_read: int
    spans_new: int
    spans_forgotten: int
    skipped: tuple[Unread, ...]  # the most frequent first
    problems: tuple[str, ...]  # of sources that were not read to their end
    seconds: float
