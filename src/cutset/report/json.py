"""A campaign as one JSON document, for machines. `format` changes when a field changes its meaning or goes away."""

from typing import Any

from cutset.model.finding import Finding
from cutset.model.outcome import Outcome
from cutset.report.summary import RequestSummary, Summary

FORMAT = 1


def to_document(summary: Summary, campaign: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "campaign": campaign,
        "max_size": summary.max_size,
        "complete": summary.complete,
        "requests": [_request(request, summary.replay) for request in summary.requests],
    }


def _request(request: RequestSummary, replay: str) -> dict[str, Any]:
    return {
        "name": request.name,
        "complete_up_to": request.complete_up_to,
        "problem": request.problem,
        "calls": sorted(map(str, request.calls)),
        "not_reached": sorted(map(str, request.not_reached)),
        "experiments": request.experiments,
        "requests": request.requests,
        "findings": [_finding(finding) | {"replay": f"{replay} {finding.id}"} for finding in request.findings],
        "degraded": [_finding(finding) for finding in request.degradations],
        "undecided": [_outcome(outcome) for outcome in request.undecided],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {"id": finding.id} | _outcome(finding.outcome) | {"dead": list(finding.outcome.dead)}


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "cut": sorted(str(fault) for fault in outcome.cut),
        "reason": outcome.reason,
        "trace_ids": list(outcome.trace_ids),
    }
