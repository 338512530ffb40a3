"""What a campaign leaves open of a request, in words: why an exit code is 3, as CI formats must be able to say."""

from cutset.model.summary import CampaignSummary, RequestSummary
from cutset.report.campaign.terminal import describe_cut, describe_points


def gaps(request: RequestSummary, summary: CampaignSummary) -> list[str]:
    """Why nobody can say that the request survives whatever was not found to fail it; empty if one can."""
    return [
        *([request.problem] if request.problem else []),
        *([] if summary.finished or request.problem else ["the campaign was interrupted"]),
        *(f"unknown: {describe_cut(outcome.cut)}: {outcome.reason}" for outcome in request.undecided),
        *(f"predicted to fail, but not tried: {describe_points(cut)}" for cut in request.predicted),
        *(f"not coverable: {each.call}: {each.reason}" for each in request.uncoverable if each.is_service),
    ]


def asides(request: RequestSummary) -> list[str]:
    """What was not tested either, and need not be: data stores that services call directly."""
    return [f"not coverable: {each.call}: {each.reason}" for each in request.uncoverable if not each.is_service]
