"""What a campaign is to do, and when it is to stop. The sections are those of cutset.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cutset.errors import UsageError
from cutset.judge.sequential import failures_needed
from cutset.lineage.path import Level
from cutset.model.effect import EffectChoice
from cutset.model.expect import ErrorRate, FlakeRate, Minutes, NotNegative, Positive, Seconds
from cutset.search.strategies import AcrossRequests, StrategyName
from cutset.search.strategy import Certificates

SIZE = 3  # of the largest cut to look for
SIZE_WITH_SEVERAL_EFFECTS = 2  # pairs of points times pairs of effects are many already


@dataclass(frozen=True, slots=True)
class Limits:
    max_size: Positive | None = (
        None  # the largest cut to look for; not given: 3, or 2 where points have several effects
    )
    parallel: Positive = 16  # experiments in flight
    repeats: Positive | None = None  # a failure is believed after so many in a row; not given: by the two rates
    flake_rate: FlakeRate = 0.01  # the share of answers that fail by chance, without any fault
    error_rate: ErrorRate = 0.001  # how often chance alone may make an experiment a false finding
    trials: Positive = 10  # requests of each experiment, at least, where runs without a fault differ
    experiments: NotNegative = 10_000  # stop after so many; this and the next two: 0 for no limit
    rounds: NotNegative = 0  # stop each request class after so many
    minutes: Minutes = 0.0  # start no experiment after so many, from the start or the resumption on
    trace_timeout: Seconds = 20.0  # how long to wait for an experiment's trace

    @property
    def failures_needed(self) -> int:
        return self.repeats or failures_needed(self.flake_rate, self.error_rate)


@dataclass(frozen=True, slots=True)
class SearchChoice:
    strategy: StrategyName = StrategyName.CUTS
    certificates: Certificates = Certificates.EXACT  # what a surviving experiment is taken to prove
    across_requests: AcrossRequests = AcrossRequests.VERIFY  # what fails one request class, for the others


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    limits: Limits = Limits()
    search: SearchChoice = SearchChoice()
    effects: EffectChoice = field(default_factory=EffectChoice)
    points: Level = Level.API
    replicas: Mapping[str, int] = field(default_factory=dict)  # of each service, where points tell replicas apart

    def __post_init__(self) -> None:
        if not self.has_several_effects:
            return
        if self.search.strategy is not StrategyName.CUTS:
            raise UsageError(
                f"The strategy `{self.search.strategy}` knows one effect per point, and several are to be tried",
                hint="Name one effect, or use the strategy `cuts`",
            )
        if self.points is Level.REPLICA:
            raise UsageError(
                "Replicas are told apart with one effect per point, and several are to be tried",
                hint="Name one effect, or set `points: api`",
            )

    @property
    def has_several_effects(self) -> bool:
        """At one point: one effect here and another there are no reason to search otherwise."""
        return any(len(effects) > 1 for effects in (self.effects.usual, *(rule[1] for rule in self.effects.rules)))

    @property
    def max_size(self) -> int:
        return self.limits.max_size or (SIZE_WITH_SEVERAL_EFFECTS if self.has_several_effects else SIZE)
