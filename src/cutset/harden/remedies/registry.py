"""All remedies, in the order in which they are reported: what survives an outage first."""

from dataclasses import replace

from cutset.harden.remedies import bulkhead, circuit_breaker, fallback, hedging, retry, timeout, validation
from cutset.harden.remedies.evidence import SiteEvidence
from cutset.harden.remedies.remedy import Remedy
from cutset.model.advice import Advice, Declined

REMEDIES: dict[str, Remedy] = {
    module.REMEDY.name: module.REMEDY
    for module in (fallback, timeout, validation, retry, circuit_breaker, hedging, bulkhead)
}

_OF_MESHES = (circuit_breaker.NAME, hedging.NAME, bulkhead.NAME)


def advise(evidence: SiteEvidence) -> tuple[list[Advice], list[Declined]]:
    """What to do at this call site, and what not to do for which reason."""
    said = [_where_it_is(remedy.advise(evidence), evidence) for remedy in REMEDIES.values()]
    return [each for each in said if isinstance(each, Advice)], [each for each in said if isinstance(each, Declined)]


def _where_it_is(said: Advice | Declined, evidence: SiteEvidence) -> Advice | Declined:
    """What only an agent sees has no proxy in front of it."""
    if isinstance(said, Declined) or not evidence.site.is_endpoint:
        return said
    if said.remedy in _OF_MESHES:
        return Declined(said.remedy, f"no mesh is in front of it: if at all, by the client that {_who(evidence)} uses")
    return replace(said, why=f"{said.why}; by the client that {_who(evidence)} uses, no mesh setting", settings={})


def _who(evidence: SiteEvidence) -> str:
    return f"`{evidence.site.caller}`"


def explanations() -> dict[str, str]:
    """For `cutset explain NAME`."""
    return {name: remedy.explanation for name, remedy in REMEDIES.items()}
