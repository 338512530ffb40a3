"""Timeout: do not wait longer for an answer than answers take."""

from cutset.harden.failure_rates import rule_of_three
from cutset.harden.remedies.evidence import ENOUGH_CALLS, SiteEvidence
from cutset.harden.remedies.remedy import Remedy
from cutset.model.advice import Advice, Declined
from cutset.model.effect import SLOW, Effect
from cutset.model.hardening import Latency

HEADROOM = 1.5  # above the slowest in a thousand: a busier day must not turn slow answers into failures
HEADROOM_UNSEEN = 3.0  # above the slowest of fewer calls, which need not have shown the tail
SHORTEST, LONGEST = 0.25, 15.0  # seconds; below, a pause of a garbage collector would count as an outage
SHORTEST_UNSEEN = 1.0


def seconds_for(evidence: SiteEvidence) -> float | None:
    """None if nothing is known of how long answers take."""
    latency = evidence.latency
    if latency is None:
        return None
    if latency.calls >= ENOUGH_CALLS:
        wanted = max(latency.p999 * HEADROOM, SHORTEST)
    else:
        wanted = max(latency.longest * HEADROOM_UNSEEN, SHORTEST_UNSEEN)
    return round(min(wanted, LONGEST), 2)


def advise(evidence: SiteEvidence) -> Advice | Declined:
    seconds, latency = seconds_for(evidence), evidence.latency
    slow = evidence.fatal_by(SLOW)
    if (seconds is None or latency is None) and slow:
        return Advice(
            NAME,
            against="answers that never come, or too late",
            why=f"{_waited_for(evidence, slow)}. No latencies of it are known (`cutset ingest`): begin with a half of "
            "what the request may take",
            risks=REMEDY.risks,
        )
    if seconds is None or latency is None:
        return Declined(NAME, "no latencies of it are known: read traces with `cutset ingest`")
    if latency.calls >= ENOUGH_CALLS:
        seen = f"the slowest in a thousand of {latency.calls:,} calls took {_shown(latency.p999)}"
    else:
        seen = f"the slowest of only {latency.calls:,} calls took {_shown(latency.longest)}"
    return Advice(
        NAME,
        against="answers that never come, or too late",
        why=f"{seen}, half of them at most {_shown(latency.median)}{_where(latency)}; no more than a share of "
        f"{rule_of_three(latency.calls):.2g} takes longer than the slowest, {_shown(latency.longest)} (95 %)"
        + (f"; {_waited_for(evidence, slow)}" if slow else ""),
        settings={"timeout_seconds": seconds},
        risks=REMEDY.risks,
    )


def _waited_for(evidence: SiteEvidence, slow: list[Effect]) -> str:
    survived = "its failure alone is survived, so that this is all that it takes"
    then = survived if evidence.survives_errors else "its failure is not known to be survived, so that takes a fallback"
    return f"requests fail with {', '.join(map(str, slow))}, and {then}"


def _where(latency: Latency) -> str:
    return f", in {latency.source}" if latency.source else ""


def _shown(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


NAME = "timeout"
REMEDY = Remedy(
    NAME,
    what="Gives up on a call after a time in which it would long have been answered, so that a callee that hangs does "
    "not hang its callers, their callers, and all their threads. It does not make the request succeed: for that, "
    "something must be done instead, a retry or a fallback.",
    when=f"latencies were observed. From {ENOUGH_CALLS:,} calls on it is {HEADROOM} times the slowest in a thousand, "
    f"of fewer {HEADROOM_UNSEEN:g} times the slowest; never below {SHORTEST} s nor above {LONGEST:g} s.",
    example="services:\n  cart:\n    timeout_seconds: 0.5",
    risks=(
        "Too short, it makes failures of slow answers, the more the busier the system is: exactly when that hurts.",
        "The callee goes on working on what nobody waits for, unless the deadline travels with the call (gRPC's does).",
        "A caller's timeout must be longer than those of the calls that it makes, retries included.",
    ),
    advise=advise,
)
