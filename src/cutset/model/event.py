"""What happens in a campaign, in the order in which it counts.

The ledger keeps these; resuming replays them; terminal and reports are made of nothing else.
"""

from dataclasses import dataclass, field

from cutset.model.coverage import Uncoverable
from cutset.model.effect import EffectChoice
from cutset.model.evidence import EvidenceKept
from cutset.model.fault import Cut
from cutset.model.outcome import Outcome, Points
from cutset.model.point import Point
from cutset.model.run import RunFinished, RunStarted


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignStarted:
    """Also when it is resumed: search and limits may then differ from before."""

    requests: tuple[str, ...]
    max_size: int
    points: str = ""  # how finely they are told apart
    effects: EffectChoice = field(default_factory=EffectChoice)  # what is tried where
    strategy: str = ""
    certificates: str = ""  # what a surviving experiment is taken to prove
    across_requests: str = ""  # what a cut that fails one request class means for the others
    repeats: int = 0  # failures in a row after which one is believed
    flake_rate: float = 0.0  # the share of answers that are taken to fail by chance
    trials: int = 0  # the least number of requests per experiment where requests vary
    experiments: int = 0  # the budgets, from here on but for experiments, of which all count; 0: no limit
    rounds: int = 0
    minutes: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAudited:
    """The baseline was measured with an empty plan, and where that plan arrived."""

    request: str
    healthy: bool
    reason: str  # why it is not healthy
    calls: Points  # what a fault can be injected into
    not_reached: Points  # calls that this request makes without the plan: not coverable
    trace_ids: tuple[str, ...]
    runs: tuple[Outcome, ...] = ()  # what each run without faults relied on; caches make them differ
    varies: str = ""  # how these runs differ, so that one survivor is no proof: each experiment is repeated
    edges: tuple[tuple[Point, Point], ...] = ()  # which API calls which, without the request itself
    uncoverable: tuple[Uncoverable, ...] = ()  # why no plan reaches those not reached, and calls past the mesh


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentFinished:
    """The counts are what the search knew of this request when the experiment ended, its outcome not included."""

    request: str
    outcome: Outcome
    left: int = 0  # cuts still to be tried, as far as known
    round: int = 0  # 0: recorded before rounds were
    predicted: int = 0  # cuts that are expected to fail and have not been tried
    certificates: int = 0  # experiments that survived
    complete_up_to: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFinished:
    request: str
    complete_up_to: int
    reason: str  # "" when complete up to the size that was asked for
    undecided: tuple[Cut, ...] = ()  # unknown to the end: no other experiment certified them
    assumption: str = ""  # what `complete_up_to` rests on
    exact_up_to: int = -1  # the part of it that rests on determinism alone: one run shows what equal plans do
    masked: tuple[tuple[Cut, Cut], ...] = ()  # cuts that fail, each with a larger one that survives
    predicted: tuple[Cut, ...] = ()  # expected to fail, but not tried


CampaignEvent = (
    RunStarted | CampaignStarted | EvidenceKept | RequestAudited | ExperimentFinished | RequestFinished | RunFinished
)
