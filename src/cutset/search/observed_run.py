"""A surviving run as its trace tells it: which calls were made, by whom, how each was answered and how long it took."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# Of a point, which is all faults there: each answer with its caller, sorted. None: it was not called.
AnswersSeen = tuple[str, ...]
NOT_CALLED: AnswersSeen = ()
REQUEST = 0  # no point: the request as a whole


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """Bit sets of faults."""

    called: int
    answers: Mapping[int, AnswersSeen]
    took: Mapping[int, int] = field(default_factory=dict)  # milliseconds, by point; of the request, if it was measured
    verdict: str = ""
    changed: dict[int, AnswersSeen] = field(default_factory=dict)  # against some run of fewer of its faults

    def is_same(self, other: "ObservedRun") -> bool:
        """But for how long it took."""
        return (self.called, self.answers) == (other.called, other.answers)

    def note_changes(self, less: "ObservedRun") -> None:
        """Against this run of fewer faults."""
        for point in less.answers.keys() | self.answers.keys():
            answer = self.answers.get(point, NOT_CALLED)
            if answer != less.answers.get(point, NOT_CALLED):
                self.changed[point] = answer


def statuses(answer: AnswersSeen) -> set[str]:
    return {each.partition("@")[0] for each in answer}
