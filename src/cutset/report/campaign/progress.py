"""How far a campaign has come with each request, told event by event."""

from dataclasses import dataclass

from cutset.model.event import ExperimentFinished, RequestFinished
from cutset.model.outcome import Verdict
from cutset.store.codec import RecordedEvent


@dataclass(slots=True)
class RequestProgress:
    """What is known of one request."""

    done: int = 0
    left: int = 0
    found: int = 0
    round: int = 0
    predicted: int = 0  # and not tried
    certificates: int = 0
    unknown: int = 0
    proven: int = -1

    @property
    def note(self) -> str:
        predicted = f"/{self.found + self.predicted}" if self.predicted else ""
        parts = [
            f"round {self.round}",
            f"{self.found}{predicted} found",
            f"{self.certificates} certified",
            *([f"{self.unknown} unknown"] if self.unknown else []),
            f"proven up to size {self.proven}" if self.proven >= 0 else "nothing proven",
        ]
        return ", ".join(parts)


def take_note(event: RecordedEvent, progress_of: dict[str, RequestProgress]) -> None:
    match event:
        case ExperimentFinished(request=request, outcome=outcome):
            known = progress_of.setdefault(request, RequestProgress())
            known.done += 1
            known.left = event.left
            known.round = event.round
            known.found += outcome.verdict is Verdict.FAILED
            known.predicted = event.predicted
            known.certificates = event.certificates + (outcome.verdict in (Verdict.SURVIVED, Verdict.DEGRADED))
            known.unknown += outcome.verdict is Verdict.UNKNOWN
            known.proven = event.complete_up_to
        case RequestFinished(request=request):
            known = progress_of.setdefault(request, RequestProgress())
            known.left = 0
            known.predicted = len(event.predicted)
            known.proven = event.complete_up_to
