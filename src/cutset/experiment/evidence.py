"""What is kept of a trial, so that whoever reads a report sees it: the answer, and how the calls went.

Of spans only what a picture of them needs: attributes and queries of addresses may hold plans, headers and secrets.
"""

import re
from collections.abc import Collection, Mapping

from cutset.experiment.trial import Bench, Trial
from cutset.lineage.agent_calls import sides_of
from cutset.lineage.agent_spans import call_site_of, has_failed, is_agent_call, is_agent_span, own_calls
from cutset.lineage.calls import answered_badly, called_point, is_mesh_span, status_of
from cutset.lineage.path import fired_at
from cutset.model.evidence import (
    LONGEST_NAME,
    MOST_ANSWER,
    MOST_SPANS,
    EvidenceKept,
    KeptAnswer,
    KeptSpan,
    Teller,
)
from cutset.model.fault import Cut, Fault
from cutset.model.request import Response
from cutset.model.span import Span

_TEXT = re.compile(r"text/|[^;]*\b(json|xml|html|javascript|yaml|csv|graphql|x-www-form-urlencoded)\b", re.IGNORECASE)
_STATUSES = ("http.response.status_code", "http.status_code", "rpc.response.status_code")


def evidence_of_trial(bench: Bench, request: str, cut: Cut, trial: Trial, *, answers: bool) -> EvidenceKept:
    spans = sorted({span.span_id: span for span in trial.spans}.values(), key=lambda each: (each.start_ns, each.end_ns))
    kept = spans[:MOST_SPANS]
    faults = fired_at(trial.spans, trial.root_id, cut, sides=bench.sites.sides)
    sides = {span.span_id for span in sides_of(trial.spans, trial.root_id).values()}
    calls = {span.span_id for span in own_calls(trial.spans)} - sides
    ids = {span.span_id for span in kept}
    return EvidenceKept(
        request=request,
        cut=cut,
        trace_id=trial.trace_id,
        answer=kept_answer(trial.response) if answers else None,
        spans=tuple(_kept_span(span, kept[0].start_ns, ids, calls, faults) for span in kept),
        left_out=len(spans) - len(kept),
    )


def kept_answer(response: Response) -> KeptAnswer:
    text = _text_of(response)
    return KeptAnswer(
        status=response.status,
        content_type=response.content_type[:LONGEST_NAME],
        text=text[:MOST_ANSWER],
        length=len(response.body),
        seconds=response.seconds,
        left_out=max(0, len(text) - MOST_ANSWER),
        error=response.error[:LONGEST_NAME],
    )


def _text_of(response: Response) -> str:
    """Empty if it is none. What does not say what it is may be text even so."""
    if not response.content_type:
        try:
            return response.body.decode()
        except UnicodeDecodeError:
            return ""
    return response.text if _TEXT.match(response.content_type) else ""


def _kept_span(
    span: Span, first_ns: int, ids: Collection[str], calls: Collection[str], faults: Mapping[str, Fault]
) -> KeptSpan:
    """`ids` are those of all that are kept, `calls` those of what agents alone tell of."""
    service, name, error = _told(span)
    fault = faults.get(span.span_id)
    return KeptSpan(
        id=span.span_id[:LONGEST_NAME],
        parent=span.parent_id[:LONGEST_NAME] if span.parent_id in ids else "",
        teller=Teller.MESH if is_mesh_span(span) else Teller.AGENT if span.span_id in calls else Teller.SERVICE,
        service=service[:LONGEST_NAME],
        name=name.partition("?")[0][:LONGEST_NAME],
        kind=span.kind,
        start=(span.start_ns - first_ns) // 1000,
        duration=max(0, span.end_ns - span.start_ns) // 1000,
        error=error,
        status=_status(span)[:LONGEST_NAME],
        fault=str(fault) if fault else "",
    )


def _told(span: Span) -> tuple[str, str, bool]:
    """Service, name, and whether it failed: sidecars and agents name services and APIs as points do."""
    if is_mesh_span(span):
        point = called_point(span)
        return point.service, point.api, answered_badly(span)
    if is_agent_call(span):
        site = call_site_of(span)
        return site.service, f"{site.endpoint} {site.peer}".strip(), has_failed(span)
    return span.service, span.name, span.error


def _status(span: Span) -> str:
    if is_mesh_span(span) or is_agent_span(span):
        return status_of(span)
    told = span.attributes
    if "rpc.grpc.status_code" in told:
        return f"grpc {told['rpc.grpc.status_code']}"
    return next((str(told[each]) for each in _STATUSES if each in told), "")
