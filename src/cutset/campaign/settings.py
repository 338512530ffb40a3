"""What a campaign is to do, and when it is to stop."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cutset.model.fault import Effect
from cutset.search.strategies import AcrossRequests, StrategyName
from cutset.search.strategy import Certificates


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    max_size: int
    effect: Effect
    parallel: int
    max_experiments: int = 0  # of the whole campaign; for this and the next two, 0 stands for no limit
    max_rounds: int = 0  # of each request class
    max_minutes: float = 0.0  # from the start or the resumption on
    strategy: StrategyName = StrategyName.CUTS
    certificates: Certificates = Certificates.HYBRID
    across_requests: AcrossRequests = AcrossRequests.VERIFY
    replicas: Mapping[str, int] = field(default_factory=dict)  # of each service, where points tell replicas apart
    repeats: int = 0  # the laboratory's, for the record
    flake_rate: float = 0.0  # for the record, too
    fingerprint: str = ""  # of everything that outcomes depend on
    replay: str = ""  # the command that tries a finding again
