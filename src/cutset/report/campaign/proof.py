"""What the checker says of a campaign: a line at the end of every exploration, the whole proof in words, and JSON."""

from collections.abc import Iterator
from typing import Any

from rich.markup import escape

from cutset.model.fault import Cut
from cutset.model.proof import SURE, CheckedCampaign, CheckedRequest
from cutset.model.wording import count
from cutset.report.campaign.scope import effects_document, effects_text
from cutset.report.campaign.terminal import describe_cut

FORMAT = 2
_THEOREM = """\
Theorem      Each set of at most so many faults, one per call, contains a finding or survives. For a run decides every
             set that agrees with it on all that it called, and one run or another decides each that has no finding.
Findings     failed as often as was asked for, with faults that are proven to have fired, and the request worked without
             them right after. A minimal one has nothing smaller inside it that fails.
Assumes      The same faults have the same consequences. Traces of surviving requests are whole."""
_BY_FAILOVER = """\
             A call that was seen to turn to another replica when one failed can do with any of its replicas."""
_NOT_COVERED = """\
Not covered  Calls that were never seen, effects other than {effects}; larger sets, what changes with time or load."""


def verdict_line(checked: CheckedCampaign) -> str:
    """With rich's markup."""
    if checked.refuted:
        return f"[red]✗ checked[/]    {len(checked.refuted)} of its claims do not hold: {escape(checked.refuted[0])}"
    if checked.proven:
        size = min((request.proven_up_to for request in checked.requests), default=0)
        words = f"[green]✓ checked[/]    exact up to size {size} in all requests, proven again from the ledger alone"
    else:
        words = f"[magenta]✓ checked[/]    its claims hold; {escape(_reservations(checked))}"
    return f"{words}  [dim]{_record(checked)}[/]"


def to_lines(checked: CheckedCampaign) -> Iterator[str]:
    """With rich's markup."""
    yield f"[bold]{escape(checked.id)}[/]  [dim]{_record(checked)}, head {checked.head[:16]}[/]"
    for wrong in checked.wrong:
        yield f"  [red]✗ {escape(wrong)}[/]"
    for request in checked.requests:
        yield ""
        yield f"[bold]{escape(request.name)}[/]  {_claim(request)}"
        yield from (f"  {line}" for line in _request_lines(request, checked))
    yield ""
    yield from _THEOREM.splitlines()
    if any(request.by_failover for request in checked.requests):
        yield _BY_FAILOVER
    yield _NOT_COVERED.format(effects=escape(effects_text(checked.effects)))
    yield ""
    yield verdict_line(checked)


def to_document(checked: CheckedCampaign) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "campaign": checked.id,
        "effects": effects_document(checked.effects),
        "certificates": checked.certificates,
        "proven": checked.proven,
        "refuted": list(checked.refuted),
        "records": checked.records,
        "head": checked.head,
        "sealed": checked.sealed,
        "finished": checked.finished,
        "requests": [
            {
                "name": request.name,
                "proven": request.proven,
                "asked_up_to": request.asked_up_to,
                "claimed_up_to": request.claimed_up_to,
                "claimed_exact_up_to": request.exact_up_to,
                "proven_up_to": request.proven_up_to,
                "assumed_up_to": request.assumed_up_to,
                "open": None if request.open is None else _texts(request.open),
                "findings": [_texts(cut) for cut in request.findings],
                "minimal": request.minimal,
                "points": request.points,
                "faults": request.faults,
                "untried": sorted(map(str, request.untried)),
                "runs": request.runs,
                "uncoverable": [{"call": each.call, "reason": each.reason} for each in request.uncoverable],
                "undecided": [_texts(cut) for cut in request.undecided],
                "trusted": [_texts(cut) for cut in request.trusted],
                "varying": request.varying,
                "overlooked_share": round(request.overlooked, 4),
                "unfinished": request.unfinished,
                "refuted": list(request.wrong),
            }
            for request in checked.requests
        ],
    }


def _record(checked: CheckedCampaign) -> str:
    whole = ", " if checked.wrong else ", chain whole, "
    return (
        count(checked.records, "record") + whole + ("sealed with this key" if checked.sealed else "not authenticated")
    )


def _claim(request: CheckedRequest) -> str:
    if request.proven_up_to < 0:
        return f"[magenta]nothing is proven[/]: {escape(request.unfinished or 'nothing was injected')}"
    effort = f"{count(request.runs, 'run')} over {count(request.points, 'point')}"
    effort += f" with {count(request.faults, 'fault')}" if request.faults > request.points else ""
    words = f"exact up to size {request.proven_up_to}, by {effort}"
    return f"[green]{words}[/]" if request.proven else words


def _request_lines(request: CheckedRequest, checked: CheckedCampaign) -> Iterator[str]:
    for wrong in request.wrong:
        yield f"[red]✗ does not hold[/]  {escape(wrong)}"
    if request.findings:
        yield f"{count(len(request.findings), 'finding')} proven, {request.minimal} of them minimal"
    if request.degraded:
        yield f"{count(request.degraded, 'run')} survived with an answer that lacks a part or has another value"
    if request.claimed_up_to > max(request.proven_up_to, request.exact_up_to):
        yield f"[magenta]? not proven[/]  what is said beyond that rests on: {escape(request.assumption or 'nothing')}"
        if request.assumed_up_to > request.proven_up_to:
            trusted = "what is trusted to fail did, and " if request.trusted else ""
            alike = ", and effects that look alike alone do so together" if checked.certificates == "classes" else ""
            coarser = f"would hold if {trusted}to fail less than what was survived never did harm{alike}"
            yield f"  [dim]derived here: up to size {request.assumed_up_to} it {coarser}, which assumes more[/]"
    if request.proven_up_to < request.asked_up_to:
        what = "too many sets to check" if request.open is None else escape(_cut(request.open))
        yield f"[magenta]? open[/]  {what}  [dim]{escape(request.unfinished)}[/]"
    for cut in request.trusted:
        yield f"[magenta]? untested[/]  {escape(_cut(cut))}  [dim]trusted to fail, since it fails another request[/]"
    untried = [(str(point), "none of the effects is possible there") for point in sorted(request.untried)]
    for call, why in [*untried, *((each.call, each.reason) for each in request.uncoverable)]:
        yield f"[magenta]! not covered[/]  {escape(call)}  [dim]{escape(why)}[/]"
    if request.varying:
        yield (
            f"[magenta]~ runs vary[/]  what fails less than {request.overlooked:.0%} of requests may be overlooked "
            f"[dim]({count(request.trials, 'trial')} per experiment or more; {SURE:.0%} certainty)[/]"
        )


def _reservations(checked: CheckedCampaign) -> str:
    if not checked.finished:
        return "it was interrupted"
    short = [each for each in checked.requests if each.proven_up_to < each.asked_up_to or each.unfinished]
    if short:
        return f"not all that was asked for is proven of {', '.join(each.name for each in short)}"
    calls = {call.call for each in checked.requests for call in each.uncoverable if call.is_service}
    calls |= {str(point) for each in checked.requests for point in each.untried}
    untested = sum(len(each.trusted) + len(each.undecided) for each in checked.requests)
    return f"not covered: {', '.join(sorted(calls))}" if calls else f"untested: {count(untested, 'set')}"


def _texts(cut: Cut) -> list[str]:
    return sorted(map(str, cut))


def _cut(cut: Cut) -> str:
    return describe_cut(cut) or "the request without a fault"
