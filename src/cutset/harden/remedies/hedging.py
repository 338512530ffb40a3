"""Hedging: when an answer is late, ask another replica as well and take what comes first."""

from cutset.harden.remedies.evidence import ENOUGH_CALLS, SiteEvidence, safe_to_repeat
from cutset.harden.remedies.remedy import Remedy
from cutset.model.advice import Advice, Declined

LATE_FACTOR = 3.0  # how much slower than the median the slowest in a hundred must be for hedging to pay
SHORTEST = 0.01  # seconds


def advise(evidence: SiteEvidence) -> Advice | Declined:
    latency = evidence.latency
    if not safe_to_repeat(evidence):
        return Declined(NAME, "nothing says that repeating it is harmless")
    if evidence.replicas < 2:
        return Declined(NAME, "no second replica is known that could be asked")
    if latency is None or latency.calls < ENOUGH_CALLS:
        return Declined(NAME, f"fewer than {ENOUGH_CALLS:,} calls were timed, so nobody knows when an answer is late")
    if latency.p99 < LATE_FACTOR * latency.median:
        return Declined(
            NAME, f"its slowest in a hundred takes {latency.p99 / latency.median:.1f} times the median: little to gain"
        )
    return Advice(
        NAME,
        against="a replica that is slow now and then",
        why=f"of {latency.calls:,} calls the slowest in a hundred took {1000 * latency.p99:.3g} ms, the median "
        f"{1000 * latency.median:.3g} ms: a second one, sent then, would mostly be answered earlier, at 1 % more calls",
        settings={"hedge_after_seconds": round(max(latency.p99, SHORTEST), 3)},
        risks=REMEDY.risks,
    )


NAME = "hedging"
REMEDY = Remedy(
    NAME,
    what="Sends a second call to another replica when the first is not answered in the time that 99 % take, and takes "
    "whichever answer comes first (Dean and Barroso, *The Tail at Scale*).",
    when=f"the call is safe to repeat, there is a second replica, and of at least {ENOUGH_CALLS:,} calls the slowest "
    f"in a hundred took at least {LATE_FACTOR:g} times the median.",
    example="services:\n  cart:\n    retries: 1\n    hedge_after_seconds: 0.05",
    risks=(
        "When everything is slow, everything is asked twice: use it with a retry budget.",
        "The slower call is carried out as well, so that it must not change anything.",
        "Istio's API has no hedging; it needs an EnvoyFilter there.",
    ),
    advise=advise,
)
