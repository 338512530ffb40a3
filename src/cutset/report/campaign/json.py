"""A campaign as one JSON document, for machines. `format` changes when a field changes its meaning or goes away."""

from typing import Any

from cutset.judge.sequential import OVERLOOKED, chance_of_false_finding
from cutset.judge.shares import share
from cutset.model.coverage import Uncoverable
from cutset.model.event import CampaignStarted
from cutset.model.fault import Cut
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Points
from cutset.model.summary import CampaignSummary, RequestSummary
from cutset.report.campaign.effects import otherwise, to_documents, why_alone
from cutset.report.campaign.scope import effects_document, missed_share, of_effect

FORMAT = 2


def to_document(summary: CampaignSummary, campaign: str, replay: str) -> dict[str, Any]:
    started = summary.started
    return {
        "format": FORMAT,
        "campaign": campaign,
        "max_size": started.max_size,
        "effects": effects_document(started.effects),
        "scope": of_effect(started),
        "complete": summary.complete,
        "strategy": started.strategy,
        "certificates": started.certificates,
        "across_requests": started.across_requests,
        "failures_needed": started.repeats,
        "flake_rate": started.flake_rate,
        "false_finding_chance": chance_of_false_finding(started.flake_rate, started.repeats),
        "requests_per_experiment": round(summary.requests_per_experiment, 3),
        "outlived": _texts(summary.outlived),
        "requests": [_request(request, replay, started) for request in summary.requests],
    }


def _request(request: RequestSummary, replay: str, started: CampaignStarted) -> dict[str, Any]:
    return {
        "name": request.name,
        "complete_up_to": request.complete_up_to,
        "exact_up_to": request.exact_up_to,
        "assumption": request.assumption,
        "problem": request.problem,
        "points": to_documents(request),
        "untried": _texts(request.untried),
        "calls": sorted(map(str, request.calls)),
        "not_reached": sorted(map(str, request.not_reached)),
        "not_coverable": [_uncoverable(each) for each in request.uncoverable],
        "varies": _variation(request, started),
        "rounds": request.rounds,
        "experiments": request.experiments,
        "requests": request.requests,
        "findings": [
            _finding(finding)
            | {"minimal": request.is_minimal(finding), "because": why_alone(finding, request)}
            | {"otherwise": list(otherwise(finding, request)), "replay": f"{replay} {finding.id}"}
            for finding in request.findings
        ],
        "masked": [{"cut": _texts(cut), "survived": _texts(survived)} for cut, survived in request.masked],
        "degraded": [_finding(finding) | _differences(finding.outcome) for finding in request.degradations],
        "undecided": [outcome_document(outcome) for outcome in request.undecided],
        "predicted": [_texts(cut) for cut in request.predicted],
    }


def _variation(request: RequestSummary, started: CampaignStarted) -> dict[str, Any] | None:
    """None where one surviving request is proof."""
    if not request.varies:
        return None
    return {
        "reason": request.varies,
        "trials": request.trials,
        "overlooked_share": round(missed_share(request, started), 4),
        "overlooked_chance": OVERLOOKED,
    }


def _uncoverable(each: Uncoverable) -> dict[str, Any]:
    return {
        "call": each.call,
        "why": each.why.value,
        "caller": each.caller,
        "address": each.address,
        "reason": each.reason,
    }


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    return {
        "cut": sorted(str(fault) for fault in outcome.cut),
        "reason": outcome.reason,
        "trace_ids": list(outcome.trace_ids),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    outcome = finding.outcome
    return {"id": finding.id} | outcome_document(outcome) | _evidence(outcome) | {"dead": list(outcome.dead)}


def _differences(outcome: Outcome) -> dict[str, Any]:
    """How the answer was not what it always is without a fault."""
    told = [{"kind": each.kind.value, "at": each.at, "was": each.was, "is": each.now} for each in outcome.differences]
    return {"wrong": outcome.is_wrong, "differences": told}


def _evidence(outcome: Outcome) -> dict[str, Any]:
    fails = share(outcome.failures, outcome.trials)
    return {
        "fired": _texts(outcome.fired),
        "share": {"failures": fails.count, "trials": fails.of, "interval": [round(fails.low, 4), round(fails.high, 4)]},
        "healthy_after": outcome.healthy_after,
    }


def _texts(each: Cut | Points) -> list[str]:
    return sorted(map(str, each))
