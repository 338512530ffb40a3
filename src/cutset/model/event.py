"""What happens in a campaign, in the order in which it counts.

The ledger keeps these; resuming replays them; terminal and reports are made of nothing else.
"""

from dataclasses import dataclass

from cutset.model.outcome import Outcome, Points


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignStarted:
    requests: tuple[str, ...]
    settings: str  # the settings that outcomes depend on, as canonical JSON: a campaign resumes only under the same
    max_size: int
    replay: str  # the command that takes a finding's id and tries it again


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAudited:
    """The baseline was measured with an empty plan, and where that plan arrived."""

    request: str
    healthy: bool
    reason: str  # why it is not healthy
    calls: Points  # what a fault can be injected into
    not_reached: Points  # calls that this request makes without the plan: not coverable
    trace_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentFinished:
    request: str
    outcome: Outcome
    left: int = 0  # cuts still to be tried for this request, as far as known


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFinished:
    request: str
    complete_up_to: int
    reason: str  # "" when complete up to the size that was asked for
    undecided: tuple[Points, ...] = ()  # unknown to the end: no other experiment certified them


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignFinished:
    reason: str  # "" when every request finished


Event = CampaignStarted | RequestAudited | ExperimentFinished | RequestFinished | CampaignFinished
