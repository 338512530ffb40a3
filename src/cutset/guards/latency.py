"""Requests without a fault take longer than they may: more than one of twenty, which is the p95 above the limit."""

from cutset.guards.settings import GuardSettings
from cutset.guards.vital_signs import Answers

SLOW_SHARE = 0.05


def too_slow(answers: Answers, settings: GuardSettings) -> str:
    if not settings.latency or answers.requests < settings.least_requests:
        return ""
    if answers.slow <= SLOW_SHARE * answers.requests:
        return ""
    return (
        f"{answers.slow:,} of {answers.requests:,} requests without a fault took longer than `latency`, "
        f"{settings.latency:g} s, in the last {settings.over:g} s: at most one of 20 may"
    )
