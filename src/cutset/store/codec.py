"""Events as JSON and back. Points and faults are stored as the strings that users see."""

import json
from collections.abc import Iterable
from typing import Any

from cutset.errors import InputError
from cutset.model.event import (
    CampaignFinished,
    CampaignStarted,
    Event,
    ExperimentFinished,
    RequestAudited,
    RequestFinished,
)
from cutset.model.fault import Fault
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point


def event_to_json(event: Event) -> tuple[str, str]:
    """The event's kind and its fields."""
    fields: dict[str, Any] = {name: getattr(event, name) for name in event.__slots__}
    match event:
        case ExperimentFinished(outcome=outcome):
            fields["outcome"] = outcome_to_dict(outcome)
        case RequestFinished(undecided=undecided, predicted=predicted, masked=masked):
            fields |= {"undecided": list(map(_texts, undecided)), "predicted": list(map(_texts, predicted))}
            fields["masked"] = [[_texts(cut), _texts(survived)] for cut, survived in masked]
        case RequestAudited(calls=calls, not_reached=not_reached, runs=runs, edges=edges):
            fields |= {"calls": _texts(calls), "not_reached": _texts(not_reached)}
            fields["runs"] = [outcome_to_dict(run) for run in runs]
            fields["edges"] = [[str(caller), str(callee)] for caller, callee in edges]
    return type(event).__name__, json.dumps(fields, separators=(",", ":"))


def event_from_json(kind: str, text: str) -> Event:
    try:
        return _event(kind, json.loads(text))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"The ledger holds an event that cannot be read: {kind} {text[:200]} ({error})") from error


def outcome_to_dict(outcome: Outcome) -> dict[str, Any]:
    return {
        "cut": _texts(outcome.cut),
        "verdict": outcome.verdict.value,
        "reason": outcome.reason,
        "path": _texts(outcome.path),
        "failed": _texts(outcome.failed),
        "calls": _texts(outcome.calls),
        "trace_ids": list(outcome.trace_ids),
        "requests": outcome.requests,
        "dead": list(outcome.dead),
    }


def _event(kind: str, fields: dict[str, Any]) -> Event:
    match kind:
        case "CampaignStarted":
            return CampaignStarted(**fields | {"requests": tuple(fields["requests"])})
        case "RequestAudited":
            read = {
                "calls": _points(fields["calls"]),
                "not_reached": _points(fields["not_reached"]),
                "trace_ids": tuple(fields["trace_ids"]),
                "runs": tuple(map(_outcome, fields.get("runs", ()))),
                "edges": tuple(
                    (Point.parse(caller), Point.parse(callee)) for caller, callee in fields.get("edges", ())
                ),
            }
            return RequestAudited(**fields | read)
        case "ExperimentFinished":
            return ExperimentFinished(**fields | {"outcome": _outcome(fields["outcome"])})
        case "RequestFinished":
            cuts = {name: tuple(map(_points, fields.get(name, ()))) for name in ("undecided", "predicted")}
            masked = tuple((_points(cut), _points(survived)) for cut, survived in fields.get("masked", ()))
            return RequestFinished(**fields | cuts | {"masked": masked})
        case "CampaignFinished":
            return CampaignFinished(**fields)
    raise ValueError("unknown kind of event")


def _outcome(fields: dict[str, Any]) -> Outcome:
    return Outcome(
        cut=frozenset(Fault.parse(text) for text in fields["cut"]),
        verdict=Verdict(fields["verdict"]),
        reason=fields["reason"],
        path=_points(fields["path"]),
        failed=_points(fields["failed"]),
        calls=_points(fields["calls"]),
        trace_ids=tuple(fields["trace_ids"]),
        requests=fields["requests"],
        dead=tuple(fields["dead"]),
    )


def _texts(items: Iterable[Point | Fault]) -> list[str]:
    return sorted(str(item) for item in items)


def _points(texts: Iterable[str]) -> Points:
    return frozenset(Point.parse(text) for text in texts)
