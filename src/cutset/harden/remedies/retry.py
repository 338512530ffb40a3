"""Retry: ask again, if asking twice does no harm, and not so often that it becomes an attack."""

from cutset.harden.needs import ERRORS
from cutset.harden.remedies.evidence import SiteEvidence, safe_to_repeat
from cutset.harden.remedies.remedy import Remedy
from cutset.model.advice import Advice, Declined

BUDGET_PERCENT = 20.0  # Envoy's default share of requests that may be retries
MOST_RETRIES = 2  # three attempts in all: each layer of callers multiplies the next one's


def advise(evidence: SiteEvidence) -> Advice | Declined:
    if not (reason := safe_to_repeat(evidence)):
        return Declined(
            NAME,
            "nothing says that repeating it is harmless: make it idempotent first, with a key that the caller chooses",
        )
    if evidence.fatal and not evidence.fatal_by(ERRORS):
        worse = ", ".join(map(str, evidence.fatal))
        return Declined(NAME, f"what fails requests is {worse}: nobody is told of a failure, so nobody tries again")
    if evidence.retries:
        more = "attempt" if evidence.retries == 1 else "attempts"
        return Declined(NAME, f"the mesh already makes {evidence.retries} {more} more where one fails")
    retries = min(max(evidence.replicas - 1, 1), MOST_RETRIES)
    return Advice(
        NAME,
        against="passing failures, and those of one replica",
        why=f"{reason}; {_replicas(evidence.replicas)}{_lost_attempt(evidence)}",
        settings={"retries": retries, "retry_budget_percent": BUDGET_PERCENT},
        risks=REMEDY.risks,
    )


def _lost_attempt(evidence: SiteEvidence) -> str:
    lost = [effect for effect in evidence.fatal if effect.attempts]
    return f"; requests fail with {lost[0]}, which one attempt more gets by" if lost else ""


def _replicas(count: int) -> str:
    if count > 1:
        return f"{count} replicas serve it, so that another one can answer"
    return (
        "another attempt may meet the same failure, as only one replica is known"
        if count
        else "its replicas are not known"
    )


NAME = "retry"
REMEDY = Remedy(
    NAME,
    what="Repeats a failed call, at another replica if there is one. Does nothing against an outage of the whole API.",
    when="the call is safe to repeat: an HTTP method that only reads, an RPC whose name says so, or one that was seen "
    "to be repeated and well answered. Always with a budget, a share of the calls under way that may be retries.",
    example="services:\n  cart:\n    retries: 1\n    retry_budget_percent: 20",
    risks=(
        "A callee in trouble gets more calls because it is in trouble; the budget bounds that, at each caller.",
        "Retries multiply over layers: three attempts at each of three layers are 27 calls at the last.",
        "A call that was carried out although it seemed to fail is carried out twice.",
        "A request takes longer: its own timeout must leave room for all attempts.",
    ),
    advise=advise,
)
