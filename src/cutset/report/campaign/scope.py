"""What is said of a request, and what is not: for which way to fail, of how many requests, how surely."""

from cutset.judge.sequential import OVERLOOKED, overlooked_share
from cutset.judge.shares import share
from cutset.model.event import CampaignStarted
from cutset.model.outcome import Outcome
from cutset.model.summary import RequestSummary
from cutset.model.wording import count


def complete(request: RequestSummary, started: CampaignStarted) -> str:
    """The headline, with the part that rests on determinism alone, where more is assumed beyond that."""
    exact = f" (exact up to {request.exact_up_to})" if -1 < request.exact_up_to < request.complete_up_to else ""
    how = f" for {started.effect}" if started.effect else ""
    return f"complete up to size {request.complete_up_to}{exact}{how}"


def of_effect(started: CampaignStarted) -> str:
    """How a call fails is a part of what is proven; empty where it was not recorded."""
    if not started.effect:
        return ""
    return f"Said of calls that fail by {started.effect}; nothing is said of other ways to fail"


def of_variation(request: RequestSummary, started: CampaignStarted) -> str:
    """What may have been overlooked where one surviving request is no proof; empty where it is one."""
    if not request.varies:
        return ""
    if not request.trials:
        return f"requests vary: {request.varies}"
    return (
        f"requests vary: {request.varies}; each experiment that survived had {count(request.trials, 'trial')} or more, "
        f"in which a set that fails {percent(missed_share(request, started))} of requests or more is overlooked with a "
        f"chance of at most {percent(OVERLOOKED)}"
    )


def missed_share(request: RequestSummary, started: CampaignStarted) -> float:
    return overlooked_share(started.flake_rate, max(request.trials, 1))


def evidence(outcome: Outcome) -> str:
    """How often a finding was seen to fail."""
    times = f"failed {outcome.failures} of {outcome.trials} times"
    if outcome.is_share:
        found = share(outcome.failures, outcome.trials)
        times += f", that is {percent(found.low)} to {percent(found.high)} of requests"
    return times + (", never without" if outcome.healthy_after else "")


def percent(part: float) -> str:
    return f"{100 * part:.2g} %"
