"""What a campaign is to do, and when it is to stop. The sections are those of cutset.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cutset.judge.sequential import failures_needed
from cutset.lineage.path import Level
from cutset.model.expect import ErrorRate, FlakeRate, Minutes, NotNegative, Positive, Seconds
from cutset.model.fault import UNAVAILABLE, Effect
from cutset.search.strategies import AcrossRequests, StrategyName
from cutset.search.strategy import Certificates


@dataclass(frozen=True, slots=True)
class Limits:
    max_size: Positive = 3  # the largest cut to look for
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
    effect: Effect = UNAVAILABLE
    points: Level = Level.API
    replicas: Mapping[str, int] = field(default_factory=dict)  # of each service, where points tell replicas apart
