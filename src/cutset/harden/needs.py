"""What it takes at a call so that a fault there does no harm: which remedies help against which effects.

A fallback makes up for an error. A slow answer is made an error by a timeout, and an unreadable one by who looks at it
before he uses it; that is enough where the error is survived already, else it needs the fallback, too. A lost first
attempt needs one more, or the fallback. Whether an error in the place of a slow answer is survived the campaign knows:
it tried that error, and no finding is inside what then fails.
"""

from collections.abc import Iterator
from enum import StrEnum

from cutset.model.effect import SLOW, SPOILS_ANSWER, Effect, EffectChoice, EffectKind
from cutset.model.fault import Fault
from cutset.model.summary import CampaignSummary, RequestSummary

ERRORS = frozenset(
    {EffectKind.ABORT, EffectKind.GRPC, EffectKind.CONNECTION_REFUSED, EffectKind.CONNECTION_RESET}
)  # the caller is told at once


class Measure(StrEnum):
    """By the name of its remedy."""

    FALLBACK = "fallback"
    TIMEOUT = "timeout"
    VALIDATION = "validation"
    RETRY = "retry"


Need = frozenset[Measure]  # all of these
Softened = frozenset[tuple[str, Fault]]  # findings by id, each with a fault in whose place an error is survived


def needs(effect: Effect, *, softened: bool) -> tuple[Need, ...]:
    """Each of these is enough. `softened`: an error in its place would be survived."""
    turned = {Measure.TIMEOUT} if effect.kind in SLOW else set()
    turned |= {Measure.VALIDATION} if effect.kind in SPOILS_ANSWER else set()
    if turned and softened:
        return (frozenset(turned),)
    instead = [Measure.RETRY, Measure.FALLBACK] if effect.attempts else [Measure.FALLBACK]
    return tuple(frozenset({*turned, each}) for each in instead)


def softened_by_errors(summary: CampaignSummary) -> Softened:
    return frozenset(pair for request in summary.requests for pair in _softened(request, summary.started.effects))


def _softened(request: RequestSummary, effects: EffectChoice) -> Iterator[tuple[str, Fault]]:
    for finding in request.findings:
        if len(finding.cut) > request.complete_up_to:
            continue  # nobody knows what survives among sets of this size
        for fault in finding.cut:
            errors = [each for each in effects.at(fault.point) if each.kind in ERRORS and each.for_every_call]
            instead = [finding.cut - {fault} | {Fault(fault.point, error)} for error in errors]
            if errors and not any(other.cut <= each for each in instead for other in request.findings):
                yield finding.id, fault
