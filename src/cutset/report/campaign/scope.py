"""What is said of a request, and what is not: for which way to fail, of how many requests, how surely."""

from collections.abc import Iterable, Iterator
from typing import Any

from cutset.judge.sequential import OVERLOOKED, chance_of_false_finding, overlooked_share
from cutset.judge.shares import share
from cutset.model.effect import Effect, EffectChoice
from cutset.model.event import CampaignStarted
from cutset.model.outcome import Outcome
from cutset.model.summary import CampaignSummary, RequestSummary
from cutset.model.wording import count
from cutset.search.strategies import StrategyName

NOT_CONTAINED = (
    "was faulted more than a second after the request had ended: whoever calls it keeps the context of a request, and "
    "others may have been hit"
)
TRUSTED = "What failed one request class was taken to fail others, untested (`across_requests: trust`)"


def completeness(request: RequestSummary, started: CampaignStarted) -> str:
    """How far it is decided, of what, and why no further; empty: nothing can be said yet."""
    if request.complete_up_to < 0:
        return f"not tested: {request.problem}" if request.problem else ""
    text = f"{complete(request, started)}{_progress_beyond(request)}{_of_what(request)}"
    return f"{text}; {request.problem}" if request.problem else text


def effort_of(request: RequestSummary) -> str:
    rounds = f" in {count(request.rounds, 'round')}" if request.rounds else ""
    return f"{count(request.experiments, 'experiment')}{rounds}, {count(request.requests, 'request')}"


def totals(summary: CampaignSummary, *, under_way: bool = False) -> str:
    experiments = sum(request.experiments for request in summary.requests)
    undecided = sum(len(request.undecided) for request in summary.requests)
    text = f"{count(len(summary.findings), 'minimal cut')} in {count(len(summary.requests), 'request class')}"
    text += f", {count(experiments, 'experiment')}"
    text += f" of {summary.requests_per_experiment:.1f} requests each" if experiments else ""
    text += f", {undecided} unknown" if undecided else ""
    return text if under_way or summary.finished else f"{text}, interrupted"


def method(started: CampaignStarted) -> Iterator[str]:
    """What all of it rests on."""
    if started.strategy:
        # The papers' strategies know no certificates.
        kind = f", {started.certificates} certificates" if started.strategy == StrategyName.CUTS else ""
        yield f"Strategy `{started.strategy}`{kind}"
    if effect := of_effect(started):
        yield effect
    if started.repeats:
        chance = percent(chance_of_false_finding(started.flake_rate, started.repeats))
        yield (
            f"A failure is believed after {started.repeats} in a row: at {percent(started.flake_rate)} flaky "
            f"answers a false finding has a chance of at most {chance} per experiment"
        )


def _of_what(request: RequestSummary) -> str:
    """Complete is said of what can be tested."""
    reached = count(len(request.calls - request.not_reached), "call")
    return f", of {reached} that plans reach" if request.uncoverable else ""


def _progress_beyond(request: RequestSummary) -> str:
    """How far the next size has come, where the search stopped in its midst."""
    size = request.complete_up_to + 1
    left = sum(len(cut) == size for cut in request.predicted)
    confirmed = sum(len(finding.cut) == size for finding in request.findings)
    return f", {confirmed} of {confirmed + left} predicted cuts of size {size} confirmed" if left else ""


def complete(request: RequestSummary, started: CampaignStarted) -> str:
    """The headline, with the part that rests on determinism alone, where more is assumed beyond that."""
    exact = f" (exact up to {request.exact_up_to})" if -1 < request.exact_up_to < request.complete_up_to else ""
    places = len(started.effects.rules)  # which these are is told once, by `of_effect`
    others = f", others at {count(places, 'place')}" if places else ""
    tried = _listed(started.effects.usual) + others + _instead(request, started)
    return f"complete up to size {request.complete_up_to}{exact} for {tried}"


def _instead(request: RequestSummary, started: CampaignStarted) -> str:
    """A data store answers no status: it is gone."""
    tried = dict.fromkeys(each.effect for row in request.tolerations for each in row.effects)
    others = _listed(each for each in tried if each not in started.effects.all)
    return f" ({others} at data stores)" if others else ""


def of_effect(started: CampaignStarted) -> str:
    """How a call fails is a part of what is proven."""
    return f"Said of calls that fail by {effects_text(started.effects)}; nothing is said of other ways to fail"


def effects_text(effects: EffectChoice) -> str:
    """All that is tried, with where, if not everywhere."""
    rules = [f"{_listed(tried)} at {name}" for name, tried in effects.rules]
    return "; ".join([_listed(effects.usual), *rules])


def effects_document(effects: EffectChoice) -> dict[str, Any]:
    return {
        "usual": list(map(str, effects.usual)),
        "at": {name: list(map(str, tried)) for name, tried in effects.rules},
    }


def _listed(effects: Iterable[Effect]) -> str:
    return ", ".join(map(str, effects))


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
