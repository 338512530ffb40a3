"""Requests without a fault fail more often than they may: whatever the reason, nobody should add to it."""

from cutset.guards.settings import GuardSettings
from cutset.guards.vital_signs import Answers


def too_many_errors(answers: Answers, settings: GuardSettings) -> str:
    limit = settings.error_rate
    if not limit or answers.requests < settings.least_requests or answers.failed <= limit * answers.requests:
        return ""
    share = answers.failed / answers.requests
    return (
        f"{answers.failed:,} of {answers.requests:,} requests without a fault failed in the last {settings.over:g} s: "
        f"{share:.1%}, and `error_rate` is {limit:.1%}"
    )
