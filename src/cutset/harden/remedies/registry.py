"""All remedies, in the order in which they are reported: what survives an outage first."""

from cutset.harden.remedies import bulkhead, circuit_breaker, fallback, hedging, retry, timeout
from cutset.harden.remedies.evidence import SiteEvidence
from cutset.harden.remedies.remedy import Remedy
from cutset.model.advice import Advice, Declined

REMEDIES: dict[str, Remedy] = {
    module.REMEDY.name: module.REMEDY for module in (fallback, timeout, retry, circuit_breaker, hedging, bulkhead)
}


def advise(evidence: SiteEvidence) -> tuple[list[Advice], list[Declined]]:
    """What to do at this call site, and what not to do for which reason."""
    said = [remedy.advise(evidence) for remedy in REMEDIES.values()]
    return [each for each in said if isinstance(each, Advice)], [each for each in said if isinstance(each, Declined)]


def explanations() -> dict[str, str]:
    """For `cutset explain NAME`."""
    return {name: remedy.explanation for name, remedy in REMEDIES.items()}
