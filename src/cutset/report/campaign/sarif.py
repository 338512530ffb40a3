"""A campaign as SARIF 2.1.0, for code scanning: a result per finding, and a rule per kind that says what to do.

A result's identity is that of its finding: the same in every campaign, wherever it is shown. `primaryLocationLineHash`
is the one fingerprint that GitHub looks at. Where something fails is a service and an API, so these are logical
locations; GitHub shows only results that are in a file, too: that of the service, if one was named, or else the file
that describes the request. Accepted findings are suppressed results; GitHub ignores that (see `docs/how-to/ci.md`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from cutset import __version__
from cutset.model.effect import UNAVAILABLE
from cutset.model.fault import cut_of, points_of
from cutset.model.finding import Finding
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.summary import CampaignSummary, RequestSummary
from cutset.report.campaign.baseline import Comparison, Standing
from cutset.report.campaign.effects import otherwise, rows, sentence, why_alone
from cutset.report.campaign.gaps import asides, gaps
from cutset.report.campaign.scope import complete, effects_document, evidence, of_effect, of_variation
from cutset.report.campaign.terminal import describe_cut
from cutset.report.printable import all_visible

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


@dataclass(frozen=True, slots=True)
class SarifRule:
    id: str
    level: Literal["error", "warning", "note"]
    title: str
    meaning: str
    remedies: tuple[str, ...]


SINGLE = SarifRule(
    "single-point-of-failure",
    "error",
    "One failing call breaks a request",
    "Whenever this one call fails, the user's request fails, or that share of requests that the message tells. Nothing "
    "that the caller does makes up for it.",
    (
        "Answer without it: a cached or default value, or a page that leaves the part out.",
        "Retry on another replica, within a time budget, if the call may safely be repeated.",
        "Set a timeout that is shorter than the user's patience, so that a fallback has time to answer.",
        "If the request cannot do without it, accept the finding and say why (`cutset baseline`).",
    ),
)
JOINT = SarifRule(
    "joint-failure",
    "error",
    "A few calls that fail together break a request",
    "Each of these calls is tolerated by itself; when all of them fail, the user's request fails. Making the request "
    "independent of any one of them removes the finding.",
    (
        "Harden the call that is in most findings: it removes all of them at once.",
        "See to it that a call and its fallback share neither node, nor zone, nor data store.",
        "Retry, cache or default at whichever of the calls is the easiest to replace.",
    ),
)
DEGRADED = SarifRule(
    "degraded-answer",
    "note",
    "A failing call takes a part of the answer away, or makes a value wrong",
    "The request is still answered, but a part that the answer always has is missing, or a value is not what it always "
    "is.",
    (
        "Often this is as intended: a page without advertisements is better than none.",
        "Else serve the part from a cache, or say in its place that it is missing.",
    ),
)
UNCOVERED = SarifRule(
    "trace-context-lost",
    "warning",
    "A call is made without the trace context or without the plan",
    "No fault can be injected into this call for one request alone, so nobody knows whether the request survives it.",
    (
        "Hand on `traceparent` with `tracestate` or `baggage` to this call, as every OpenTelemetry SDK does.",
        "Calls from thread pools, queues and hand-written clients are where it is usually lost.",
    ),
)
RULES = (SINGLE, JOINT, DEGRADED, UNCOVERED)


@dataclass(frozen=True, slots=True)
class Places:
    """Files, relative to the root of the repository, in which findings are shown."""

    requests: str = "cutset.yaml"  # where the requests are described
    services: tuple[tuple[str, str], ...] = ()  # each with its file, as far as known


IN_CONFIGURATION = Places()


def to_document(
    summary: CampaignSummary,
    campaign: str,
    replay: str,
    comparison: Comparison | None = None,
    places: Places = IN_CONFIGURATION,
) -> dict[str, Any]:
    started = summary.started
    told = [
        (level, f"{request.name}: {text}")
        for request in summary.requests
        for level, texts in (
            ("warning", gaps(request, summary)),
            ("note", asides(request)),
            ("note", [complete(request, started)] if request.complete_up_to >= 0 else []),
            ("note", filter(None, [of_variation(request, started)])),
            ("note", [f"{row.point} {sentence(row)}" for row in rows(request)]),
        )
        for text in texts
    ]
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "Cutset", "version": __version__, "rules": [_rule(rule) for rule in RULES]}
                },
                "automationDetails": {"id": f"cutset/{campaign}"},
                "properties": {"effects": effects_document(started.effects), "scope": of_effect(started)},
                "invocations": [
                    {
                        "executionSuccessful": summary.finished,
                        "toolExecutionNotifications": [
                            {"level": level, "message": {"text": text}} for level, text in told
                        ],
                    }
                ],
                "results": [
                    result for request in summary.requests for result in _results(request, replay, comparison, places)
                ],
            }
        ],
    }
    shown: dict[str, Any] = all_visible(document)
    return shown


def _rule(rule: SarifRule) -> dict[str, Any]:
    remedies = "\n".join(f"- {remedy}" for remedy in rule.remedies)
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.id.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.meaning},
        "help": {
            "text": f"{rule.meaning}\n\nWhat to do:\n{remedies}",
            "markdown": f"{rule.meaning}\n\n**What to do**\n\n{remedies}",
        },
        "defaultConfiguration": {"level": rule.level},
        "properties": {"tags": ["resilience"], "precision": "very-high"},
    }


def _results(
    request: RequestSummary, replay: str, comparison: Comparison | None, places: Places
) -> Iterator[dict[str, Any]]:
    for finding in request.findings:
        rule = SINGLE if len(finding.cut) == 1 else JOINT
        text = f"{request.name} fails with {describe_cut(finding.cut)}. The user sees: {finding.outcome.reason}."
        text += "".join(f" Because: {why}." for why in filter(None, [why_alone(finding, request)]))
        text += "".join(f" Otherwise {each}." for each in otherwise(finding, request))
        text += f" It {evidence(finding.outcome)}."
        text += f" Killed: {', '.join(finding.outcome.dead)}." if finding.outcome.dead else ""
        text += f" Try it again: {replay} {finding.id}"
        yield _result(rule, finding, text, places) | _compared(finding, comparison)
    for finding in request.degradations:
        how = "wrongly" if finding.outcome.is_wrong else "in part"
        text = f"{request.name} is answered {how} with {describe_cut(finding.cut)}: {finding.outcome.reason}."
        yield _result(DEGRADED, finding, text, places) | _compared(finding, comparison)
    for point in sorted(request.not_reached):
        untested = Finding(request.name, Outcome(cut_of([point], UNAVAILABLE), Verdict.UNKNOWN))
        why = "; ".join(each.reason for each in request.uncoverable if each.call == str(point.of_api))
        yield _result(UNCOVERED, untested, f"{request.name} calls {point}, which cannot be tested: {why}.", places)


def _compared(finding: Finding, comparison: Comparison | None) -> dict[str, Any]:
    if comparison is None:
        return {}
    compared = comparison.standing_of(finding)
    if compared.standing is not Standing.ACCEPTED:
        return {"baselineState": "new"}
    suppression = {"kind": "external", "status": "accepted", "justification": compared.because or "no reason given"}
    return {"baselineState": "unchanged", "suppressions": [suppression]}


def _result(rule: SarifRule, finding: Finding, text: str, places: Places) -> dict[str, Any]:
    points = points_of(finding.cut)
    of_service = dict(places.services)
    files = [(point, of_service[point.service]) for point in sorted(points) if point.service in of_service]
    primary = files[0][1] if files else places.requests
    related = [
        {"id": number, "message": {"text": str(point)}, "physicalLocation": _in_file(file)}
        for number, (point, file) in enumerate(files, start=1)
    ]
    return {
        "ruleId": rule.id,
        "ruleIndex": RULES.index(rule),
        "level": rule.level,
        "message": {"text": text},
        "locations": [{"physicalLocation": _in_file(primary), "logicalLocations": list(_logical(points))}],
        "partialFingerprints": {"cutsetFinding/v1": finding.id, "primaryLocationLineHash": f"{finding.id}:1"},
        "properties": {"request": finding.request, "cut": sorted(map(str, finding.cut))},
    } | ({"relatedLocations": related} if len(related) > 1 else {})


def _in_file(path: str) -> dict[str, Any]:
    return {"artifactLocation": {"uri": quote(path), "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 1}}


def _logical(points: Points) -> Iterator[dict[str, Any]]:
    for point in sorted(points):
        yield {"name": point.api, "fullyQualifiedName": str(point), "kind": "function"}
