"""What to harden, why, and whether it helped, as JSON for machines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cutset.harden.decision import HardenedSite, Hardening
from cutset.harden.odds import Odds
from cutset.harden.problem import expected_afvr
from cutset.harden.verification import Verification
from cutset.model.finding import Finding
from cutset.store.codec import to_jsonable

FORMAT = 1


def to_document(found: Hardening, written: Sequence[Path] = ()) -> dict[str, Any]:
    """`written` are the manifests."""
    choice = found.decision.choice
    document: dict[str, Any] = {
        "format": FORMAT,
        "campaign": found.campaign,
        "level": found.level,
        "objective": found.objective,
        "budget": choice.budget,
        "cost": choice.cost,
        "proven": choice.proven,
        "covered": choice.covered,
        "coverage": choice.coverage,
        "findings": len(found.decision.problem.weaknesses),
        "remaining": [each.finding for each in choice.remaining],
        "afvr_predicted": expected_afvr(found.decision.problem, choice),
        "sites": [_site_document(site) for site in found.sites],
        "frontier": to_jsonable(found.frontier.points),
        "diminishing_from": found.frontier.points[found.frontier.knee].budget,
        "written": [str(file) for file in written],
    }
    if found.odds:
        document |= _odds_document(found.odds)
    if found.change:
        lists = {name: list(getattr(found.change, name)) for name in ("added", "kept", "left_out")}
        document["applied"] = lists | {"undo": found.undo, "state": "applied"}
        if found.health:
            document["applied"]["health"] = to_jsonable(found.health)
        if found.restored:
            document["applied"] |= {"state": "rolled back", "rolled_back": to_jsonable(found.restored)}
    if found.verification:
        document["verification"] = _verification_document(found.verification, found.replay)
    return document


def _odds_document(odds: Odds) -> dict[str, Any]:
    return {
        "requests_per_day": odds.per_day,
        "failed_per_day": {
            "before": odds.failed_before,
            "before_between": odds.failed_before_between,
            "after": odds.failed_after,
            "after_between": odds.failed_after_between,
        },
        "traffic_from": dict(odds.traffic_from),
        "failure_rates": {str(point): to_jsonable(rate) for point, rate in odds.rates.items()},
        "likeliest": [{"id": each.id, "failed_per_day": failed} for each, failed in odds.likeliest],
        "importances": [
            {
                "name": each.name,
                "saved_per_day": each.saved,
                "share_of_failures": each.fussell_vesely,
                "failed_per_day_if_always_down": each.always,
            }
            for each in odds.importances.ranked
        ],
        "importances_in_part": list(odds.importances.in_part),
    }


def _site_document(site: HardenedSite) -> dict[str, Any]:
    return {
        "name": site.candidate.name,
        "site": str(site.candidate.site),
        "measure": site.candidate.measure.value,
        "cost": site.candidate.cost,
        "rank": site.candidate.rank,
        "breaks": list(site.breaks),
        "remedies": [
            {
                "name": each.remedy,
                "against": each.against,
                "why": each.why,
                "settings": dict(each.settings),
                "risks": list(each.risks),
                "survives_outage": each.survives_outage,
            }
            for each in site.advice
        ],
        "declined": [{"name": each.remedy, "why": each.why} for each in site.declined],
    }


def _verification_document(found: Verification, replay: str) -> dict[str, Any]:
    return {
        "afvr": found.afvr,
        "afvr_expected": found.expected_afvr,
        "classes": [
            {"request": each.request, "before": each.before, "afvr": each.afvr, "afvr_expected": each.expected_afvr}
            for each in found.classes
        ],
        "cuts": [
            {
                "id": each.finding.id,
                "request": each.finding.request,
                "cut": sorted(map(str, each.finding.cut)),
                "verdict": each.outcome.verdict.value,
                "reason": each.outcome.reason,
                "expected_gone": each.expected_gone,
            }
            for each in found.rechecks
        ],
        "explored": found.explored,
        "new_cuts": _findings(found.new_cuts, replay),
        "grown_cuts": _findings(found.grown_cuts, replay),
        "new_degradations": _findings(found.new_degradations),
        "before": to_jsonable(found.before),
        "after": to_jsonable(found.after),
    }


def _findings(findings: Sequence[Finding], replay: str = "") -> list[dict[str, Any]]:
    """What fails can be tried again."""
    return [
        {"id": each.id, "request": each.request, "cut": sorted(map(str, each.cut)), "reason": each.outcome.reason}
        | ({"replay": f"{replay} {each.id}"} if replay else {})
        for each in findings
    ]
