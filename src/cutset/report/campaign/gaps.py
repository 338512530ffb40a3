"""What a campaign leaves open of a request, in words: why an exit code is 3, as CI formats must be able to say."""

from functools import partial

from cutset.model.summary import CampaignSummary, RequestSummary
from cutset.report.campaign.effects import IMPOSSIBLE
from cutset.report.campaign.terminal import describe_cut


def gaps(request: RequestSummary, summary: CampaignSummary) -> list[str]:
    """Why nobody can say that the request survives whatever was not found to fail it; empty if one can."""
    named = partial(describe_cut, effects=summary.started.effects)
    return [
        *([request.problem] if request.problem else []),
        *([] if summary.finished or request.problem else ["the campaign was interrupted"]),
        *(f"unknown: {named(outcome.cut)}: {outcome.reason}" for outcome in request.undecided),
        *(f"predicted to fail, but not tried: {named(cut)}" for cut in request.predicted),
        *(f"not coverable: {point}: {IMPOSSIBLE}" for point in sorted(request.untried)),
        *(f"not coverable: {each.call}: {each.reason}" for each in request.uncoverable if each.is_service),
    ]


def asides(request: RequestSummary) -> list[str]:
    """What was not tested either, and need not be: data stores that services call directly."""
    return [f"not coverable: {each.call}: {each.reason}" for each in request.uncoverable if not each.is_service]
