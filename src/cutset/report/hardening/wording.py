"""What all reports of a hardening say alike."""

from cutset.harden.decision import Hardening
from cutset.harden.failure_rates import FailureRate, Source
from cutset.harden.odds import Odds
from cutset.model.wording import count

_LEVELS = {"api": "API", "call-site": "call site"}


def headline(found: Hardening) -> str:
    """`Harden 3 of 12 APIs: 18 of 25 cuts gone, proven best`."""
    choice, problem = found.decision.choice, found.decision.problem
    sites = len({each.site for each in choice.chosen})
    of = count(len({each.site for each in problem.candidates}), _LEVELS.get(found.level, found.level))
    gone = len(problem.weaknesses) - len(choice.remaining)
    proof = "proven best" if choice.proven else "not proven best"
    return f"Harden {sites} of {of}: {gone} of {count(len(problem.weaknesses), 'cut')} gone, {proof}"


def sites_in_words(found: Hardening) -> str:
    """`3 APIs`."""
    return count(len({each.site for each in found.decision.choice.chosen}), _LEVELS.get(found.level, found.level))


def requests_a_day(odds: Odds) -> str:
    """`864,000 requests a day, at the pace of 2 min,`: what nobody has seen is told as such."""
    pace = f", at the pace of {odds.pace_of}," if odds.pace_of else ""
    return f"{odds.per_day:,.0f} requests a day{pace}"


def interval(bounds: tuple[float, float] | None) -> str:
    return f" ({bounds[0]:,.3g} to {bounds[1]:,.3g})" if bounds and bounds[0] < bounds[1] else ""


def rate_in_words(rate: FailureRate) -> str:
    share = f"{rate.rate:.3g} of calls"
    if rate.source is Source.GIVEN:
        return f"{share} (given)"
    seen = f"{rate.calls.failed:,} of {rate.calls.total:,}"
    if rate.source is Source.POOLED:
        return f"{share} ({rate.low:.2g} to {rate.high:.2g}): never seen, so that all calls stand for it, {seen}"
    return f"{share} ({rate.low:.2g} to {rate.high:.2g}): {seen} were seen to"
