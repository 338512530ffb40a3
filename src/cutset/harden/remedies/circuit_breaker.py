"""Circuit breaker, as meshes have it: outlier detection takes a replica that keeps failing out of the rotation."""

from cutset.harden.remedies.evidence import SiteEvidence
from cutset.harden.remedies.remedy import Remedy
from cutset.model.advice import Advice, Declined


def advise(evidence: SiteEvidence) -> Advice | Declined:
    if evidence.replicas == 1:
        return Declined(NAME, "there is one replica: taking it out leaves none, and only the caller could stop asking")
    known = f"{evidence.replicas} replicas" if evidence.replicas else "replicas (how many is not known)"
    return Advice(
        NAME,
        against="a replica that keeps failing",
        why=f"{known} serve it: five failures in a row take one out for ten seconds, so that requests do not pay for "
        "trying it, each anew",
        settings={"outlier_detection": True},
        risks=REMEDY.risks,
    )


NAME = "circuit-breaker"
REMEDY = Remedy(
    NAME,
    what="Stops asking who keeps failing, for a while. In a mesh it is called outlier detection and works by replica: "
    "five failures in a row take it out for ten seconds, longer each time. Does nothing against an outage of the whole "
    "API but to make it fail fast.",
    when="more than one replica serves the API, or it is not known how many do.",
    example="services:\n  cart:\n    outlier_detection: true",
    risks=(
        "Failures that depend on the request, not on the replica, take out one replica after the other.",
        "The load of those that are taken out goes to the rest, which may then fail of it.",
    ),
    advise=advise,
)
