"""What `cutset.check` finds of a campaign's claims."""

from dataclasses import dataclass

from cutset.model.coverage import Uncoverable
from cutset.model.effect import EffectChoice
from cutset.model.fault import Cut
from cutset.model.outcome import Points

SURE = 0.95  # where runs vary: how surely a failing share of the stated size was not overlooked
_UNHARMED = 0.045  # the chance that it shows in no trial; the rest is that it shows, and passes for chance


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRequest:
    name: str
    asked_up_to: int  # the size
    claimed_up_to: int  # complete, by the campaign's word
    exact_up_to: int  # the part of that claim that is to rest on determinism alone
    assumption: str  # what the rest of it rests on
    proven_up_to: int  # by determinism alone, as derived here
    assumed_up_to: int  # if to fail less than what was survived did no harm, and what is trusted to fail did
    open: Cut | None  # the first set that is not proven
    findings: tuple[Cut, ...]  # what is proven to fail, without what contains another
    degraded: int  # surviving runs whose answer lacked a part
    points: int
    faults: int  # effects at these points
    untried: Points  # calls that none of the effects is possible at
    runs: int  # that prove something
    uncoverable: tuple[Uncoverable, ...]  # calls that no fault reaches
    undecided: tuple[Cut, ...]
    trusted: tuple[Cut, ...]  # taken to fail, untested
    by_failover: bool  # replicas stood for each other
    trials: int  # the fewest requests that a survivor with faults rests on
    varying: bool  # runs differed although the same fired
    unfinished: str  # why it claims no more
    wrong: tuple[str, ...]  # claims that do not hold

    @property
    def minimal(self) -> int:
        """How many findings are proven to be minimal: what is inside them contains no finding, so a leaf decides it."""
        return sum(len(cut) <= self.proven_up_to + 1 for cut in self.findings)

    @property
    def proven(self) -> bool:
        out_of_reach = any(each.is_service for each in self.uncoverable)
        gaps = self.wrong or self.unfinished or out_of_reach or self.untried or self.undecided or self.trusted
        return self.proven_up_to >= self.asked_up_to and not gaps

    @property
    def overlooked(self) -> float:
        """Where runs vary, what fails a smaller share of requests than this may have been overlooked."""
        return 1 - _UNHARMED ** (1 / max(self.trials, 1)) if self.varying else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCampaign:
    id: str
    effects: EffectChoice  # what was tried where
    certificates: str  # what a survivor was taken to prove
    records: int
    head: str  # the chain's last link
    sealed: bool  # with the key that was given
    finished: bool
    requests: tuple[CheckedRequest, ...]
    wrong: tuple[str, ...]  # with the record as a whole

    @property
    def refuted(self) -> tuple[str, ...]:
        return *self.wrong, *(f"{each.name}: {wrong}" for each in self.requests for wrong in each.wrong)

    @property
    def proven(self) -> bool:
        """All that was asked for is decided, by determinism alone."""
        return self.finished and not self.refuted and all(request.proven for request in self.requests)
