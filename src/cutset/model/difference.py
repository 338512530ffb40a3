"""How an answer that came differs from what every answer without a fault has."""

from dataclasses import dataclass
from enum import StrEnum


class DifferenceKind(StrEnum):
    MISSING = "missing"  # a part is not there, or is null or empty
    VALUE = "value"  # a value is another
    COUNT = "count"  # there are more or fewer of something
    TYPE = "type"  # a number has become a text, and the like
    UNREADABLE = "unreadable"  # it says that it is JSON, and is not
    WRITE = "write"  # behind the answer: what every request writes was not written


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    kind: DifferenceKind
    at: str  # the path of JSON, the part of a page, the point of a write; empty: the answer as a whole
    was: str = ""
    now: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether the answer says what is not so; what is missing from one, or written behind it, is not said."""
        return self.kind not in (DifferenceKind.MISSING, DifferenceKind.WRITE)
