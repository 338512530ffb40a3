"""What a remedy says of one call site."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Advice:
    remedy: str
    against: str  # which failures it helps against
    why: str  # here, with the numbers
    settings: Mapping[str, object] = field(default_factory=dict, hash=False)  # of the service in mesh.yaml
    risks: tuple[str, ...] = ()
    survives_outage: bool = False  # whether the request gets by when every call of the API fails, as in a finding


@dataclass(frozen=True, slots=True)
class Declined:
    remedy: str
    why: str
