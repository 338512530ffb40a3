"""What a remedy says of itself, in general."""

from collections.abc import Callable
from dataclasses import dataclass, field

from cutset.harden.remedies.evidence import SiteEvidence
from cutset.model.advice import Advice, Declined


@dataclass(frozen=True, slots=True)
class Remedy:
    name: str
    what: str
    when: str  # on which evidence it is advised
    example: str  # configuration
    risks: tuple[str, ...]
    advise: Callable[[SiteEvidence], Advice | Declined] = field(hash=False)

    @property
    def explanation(self) -> str:
        risks = "\n".join(f"- {risk}" for risk in self.risks)
        return f"{self.what}\n\nAdvised when: {self.when}\n\nExample:\n\n{self.example}\n\nRisks:\n{risks}"
