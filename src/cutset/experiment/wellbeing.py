"""Whether the system under test is well: only then does what an experiment shows say something of its cut.

A server may die, a store may be gone for a moment, spans may stop to arrive, by a fault of ours or by anybody's hand.
What is seen then is no verdict. Experiments wait until all is well and are tried again, alone; when it stays broken,
everything halts, and whoever runs the system is told where to look.
"""

import asyncio
from collections.abc import Awaitable, Callable

from cutset.errors import HaltedError, TargetError
from cutset.experiment.liveness import Servers
from cutset.experiment.trial import Trial
from cutset.judge.rules import Judgement, baseline_of
from cutset.lineage.culprits import culprits_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.request import Request, Response

RECOVERY_SECONDS = 30  # how long whoever runs the system may take to restart what is down
POLL_SECONDS = 1.0

SendUnfaulted = Callable[[], Awaitable[tuple[Trial, Judgement]]]


class UnwellError(Exception):
    """The system was not well, so that the outcome proves nothing."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


async def trouble_without_fault(
    send: SendUnfaulted, usual_culprits: Points, *, whole: bool = False
) -> tuple[str, Trial | None]:
    """What is wrong with a request that carries no fault, empty if nothing is; and the trial that shows it.

    `whole` asks for an answer from which nothing is missing.
    """
    try:
        trial, judgement = await send()
    except TargetError as error:
        return f"without any fault the request cannot be sent any more: {error.message}", None
    culprits = culprits_of(trial.spans, trial.root_id) - usual_culprits
    where = f"; what fails is {', '.join(map(str, sorted(culprits)))}" if culprits else ""
    if judgement.verdict is Verdict.FAILED and not trial.disturbed:
        return f"without any fault the request fails too: {judgement.reason}{where}", trial
    if not trial.traced:
        return trial.disturbed or "the trace of a request without any fault did not arrive", trial
    if whole and judgement.verdict is Verdict.DEGRADED:
        return f"without any fault a part is missing too: {judgement.reason}{where}", trial
    if culprits:
        return f"without any fault there are failures that were not there before{where}", trial
    return "", trial


async def wait_until_well(request: Request, send: SendUnfaulted, usual_culprits: Points) -> None:
    """Until the request works without a fault; raises HaltedError if it does not in time."""
    deadline = asyncio.get_running_loop().time() + RECOVERY_SECONDS
    while trouble := (await trouble_without_fault(send, usual_culprits))[0]:
        if asyncio.get_running_loop().time() >= deadline:
            raise halted(request, trouble)
        await asyncio.sleep(POLL_SECONDS)


async def wait_until_answered(request: Request, send: Callable[[], Awaitable[Response]]) -> None:
    """As above, before it is known what a good answer is like."""
    deadline = asyncio.get_running_loop().time() + RECOVERY_SECONDS
    while trouble := await _no_answer(request, send):
        if asyncio.get_running_loop().time() >= deadline:
            raise halted(request, f"it worked a moment ago, and fails without any fault: {trouble}")
        await asyncio.sleep(POLL_SECONDS)


async def _no_answer(request: Request, send: Callable[[], Awaitable[Response]]) -> str:
    try:
        judged = baseline_of([await send()], request.expect)
    except TargetError as error:
        return error.message
    return judged.reason if isinstance(judged, Judgement) else ""


async def wait_until_there(servers: Servers) -> bool:
    """Until all servers are there; False if they are not in time."""
    deadline = asyncio.get_running_loop().time() + (servers.patience or RECOVERY_SECONDS)
    while await servers.dead():
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(POLL_SECONDS)
    return True


def halted(request: Request, trouble: str) -> HaltedError:
    return HaltedError(
        f"Stopped at {request.name}: {trouble}",
        hint="See to it that this works again, then run the command again with `--resume`",
    )
