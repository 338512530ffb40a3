"""One experiment that somebody asked for, after a campaign and on its behalf: audited and recorded as any other."""

from collections.abc import AsyncGenerator
from dataclasses import replace

from cutset.experiment.laboratory import Laboratory, halt_if_down
from cutset.model.event import CampaignEvent, CampaignStarted, ExperimentFinished, RequestFinished
from cutset.model.fault import Cut
from cutset.model.outcome import Verdict
from cutset.model.request import Request
from cutset.model.run import RunFinished
from cutset.store.ledger import Ledger

ASKED_FOR = "one experiment was asked for, and no search"


async def try_by_hand(
    run: str, request: Request, cut: Cut, laboratory: Laboratory, ledger: Ledger, *, of: CampaignStarted
) -> AsyncGenerator[CampaignEvent, None]:
    """Yields each event after it was recorded. `of` is the campaign that it is made for; nothing is left to resume."""

    def recorded(event: CampaignEvent) -> CampaignEvent:
        ledger.append(run, event)
        return event

    yield recorded(replace(of, requests=(request.name,), max_size=len(cut), strategy="", across_requests=""))
    audited = await laboratory.audit(request)
    if evidence := laboratory.evidence(audited.trace_ids):
        yield recorded(evidence)
    yield recorded(audited)
    outcome = None if audited.reason else await laboratory.run(request, cut)
    if outcome:
        if evidence := laboratory.evidence(outcome.trace_ids):
            yield recorded(evidence)
        yield recorded(ExperimentFinished(request=request.name, outcome=outcome, round=1))
    undecided = (cut,) if outcome and outcome.verdict is Verdict.UNKNOWN else ()
    reason = audited.reason or ASKED_FOR
    yield recorded(RequestFinished(request=request.name, complete_up_to=-1, reason=reason, undecided=undecided))
    yield recorded(RunFinished())
    if outcome:
        await halt_if_down(laboratory, request, outcome)
