"""What reading traces has come to: how much was read, and what could not be, by reason."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class ReadTally:
    """Readers add to it as they go, so that progress can be shown while they do."""

    spans: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # by reason, which says of what: spans, lines, files
    first_at: dict[str, str] = field(default_factory=dict)  # where each reason was met first

    def skip(self, reason: str, where: str, count: int = 1) -> None:
        """`reason` must be one of few: values and places belong into `where`."""
        self.skipped[reason] += count
        self.first_at.setdefault(reason, where)

    def copy(self) -> "ReadTally":
        return ReadTally(self.spans, self.skipped.copy(), self.first_at.copy())

    def add(self, other: "ReadTally") -> None:
        self.spans += other.spans
        for reason, times in other.skipped.items():
            self.skip(reason, other.first_at[reason], times)
