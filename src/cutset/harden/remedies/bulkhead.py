"""Bulkhead: so many calls at once and no more, so that one slow callee does not take all of its callers' strength."""

from math import ceil

from cutset.harden.remedies.evidence import SiteEvidence
from cutset.harden.remedies.remedy import Remedy
from cutset.model.advice import Advice, Declined

HEADROOM = 3.0
FEWEST = 10


def advise(evidence: SiteEvidence) -> Advice | Declined:
    latency, rate = evidence.latency, evidence.per_second
    if latency is None or rate is None:
        return Declined(NAME, "it is not known how many calls are under way at once: read traces with `cutset ingest`")
    usual = rate * latency.p99
    limit = max(ceil(HEADROOM * usual), FEWEST)
    return Advice(
        NAME,
        against="a slow callee that takes all threads and connections of its callers",
        why=f"at {rate:.3g} calls a second, in the busiest minute of stored traces, of which 99 % take up to "
        f"{1000 * latency.p99:.3g} ms ({latency.calls:,} were timed), {usual:.2g} are under way at once (by Little): "
        f"{HEADROOM:g} times as many are allowed, at least {FEWEST}",
        settings={"max_parallel": limit},
        risks=REMEDY.risks,
    )


NAME = "bulkhead"
REMEDY = Remedy(
    NAME,
    what="Limits how many calls to a service are under way at once; more are refused at once instead of waiting. A "
    "callee that has become slow then costs its callers that many threads, and not all of them.",
    when="the rate and the duration of calls are known from traces.",
    example="services:\n  cart:\n    max_parallel: 40",
    risks=(
        "Too low, it refuses calls on a busy day that would have been served.",
        "In a mesh each caller's proxy counts for itself: the callee may see the limit times the number of callers.",
    ),
    advise=advise,
)
