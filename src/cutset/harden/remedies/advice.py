"""What a remedy says: of itself in general, and of one call site."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cutset.harden.remedies.evidence import Evidence


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


@dataclass(frozen=True, slots=True)
class Remedy:
    name: str
    what: str
    when: str  # on which evidence it is advised
    example: str  # configuration
    risks: tuple[str, ...]
    advise: Callable[[Evidence], Advice | Declined] = field(hash=False)

    @property
    def explanation(self) -> str:
        risks = "\n".join(f"- {risk}" for risk in self.risks)
        return f"{self.what}\n\nAdvised when: {self.when}\n\nExample:\n\n{self.example}\n\nRisks:\n{risks}"
