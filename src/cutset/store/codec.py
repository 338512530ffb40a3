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
        case RequestFinished(undecided=undecided):
            fields["undecided"] = [_texts(cut) for cut in undecided]
        case RequestAudited(calls=calls, not_reached=not_reached):
            fields |= {"calls": _texts(calls), "not_reached": _texts(not_reached)}
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
            points = {"calls": _points(fields["calls"]), "not_reached": _points(fields["not_reached"])}
            return RequestAudited(**fields | points | {"trace_ids": tuple(fields["trace_ids"])})
        case "ExperimentFinished":
            return ExperimentFinished(**fields | {"outcome": _outcome(fields["outcome"])})
        case "RequestFinished":
            return RequestFinished(**fields | {"undecided": tuple(map(_points, fields["undecided"]))})
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
