"""An impact as one JSON document, for machines. `format` changes when a field changes its meaning or goes away.

Quantiles that fall among failed requests are `null`: those are infinitely slow.
"""

from collections.abc import Iterable
from math import isfinite
from typing import Any

from cutset.model.impact import ApiImpact, ApiSample, Group, Impact, ImpactStarted, Interval
from cutset.report.impact.links import trace_link
from cutset.report.impact.wording import advice, what_was_done

FORMAT = 1


def impact_document(impact: Impact, links: str = "", repeat: str = "") -> dict[str, Any]:
    """`links` says where traces can be looked at, `repeat` is the command that does the same again."""
    failed, requests = impact.others_failed
    return {
        "format": FORMAT,
        "run": impact.run,
        "verdict": impact.verdict.value,
        "finished": impact.finished,
        "what": what_was_done(impact.started),
        "settings": _settings(impact.started),
        "marked": _by_group(impact.marked),
        "not_seen": _by_group(impact.not_seen),
        "faulted_attempts": impact.faulted,
        "unmarked": {"requests": requests, "failed": failed},
        "apis": [_api(api, links) for api in impact.apis],
        "target": [_api(api, links, judged=False) for api in impact.target],
        "calls": [[str(caller), str(callee)] for caller, callee in impact.callers],
        "guard": {"name": impact.guard.guard, "reason": impact.guard.reason, "at": impact.guard.at}
        if impact.guard
        else None,
        "problems": list(impact.problems),
        "next": list(advice(impact)),
        "repeat": repeat,
    }


def history_document(impacts: Iterable[tuple[float, Impact]]) -> list[dict[str, Any]]:
    """Each with the time at which it began, in Unix seconds."""
    return [
        {
            "run": impact.run,
            "started_at": at,
            "verdict": impact.verdict.value,
            "finished": impact.finished,
            "faults": sorted(map(str, impact.started.cut)),
            "traffic": impact.started.traffic.value,
            "guard": impact.guard.guard if impact.guard else None,
        }
        for at, impact in impacts
    ]


def _settings(started: ImpactStarted) -> dict[str, Any]:
    matching, user = started.matching, started.user
    return {
        "faults": sorted(map(str, started.cut)),
        "traffic": started.traffic.value,
        "shares": list(started.shares),
        "seconds": {str(window): seconds for window, seconds in started.seconds.items()},
        "entries": list(started.entries),
        "matching": {
            "method": matching.method,
            "path": matching.path,
            "headers": dict(matching.headers),
            "cookies": dict(matching.cookies),
            "query": dict(matching.query),
        },
        "user": {"header": user.header, "cookie": user.cookie},
        "alpha": started.alpha,
        "margin": started.margin,
        "workflow": started.workflow or None,
        "by": started.by,
    }


def _api(api: ApiImpact, links: str, *, judged: bool = True) -> dict[str, Any]:
    return {
        "api": str(api.api),
        "entry": api.is_entry,
        "verdict": api.verdict.value if judged else None,
        "reason": api.reason,
        "before": _sample(api.before),
        "control": _sample(api.control),
        "fault": _sample(api.fault),
        "difference": _rounded(api.difference),
        "interval_at_any_time": interval_document(api.at_any_time),
        "interval_at_end": interval_document(api.at_end),
        "chance": api.chance,
        "slower_seconds": interval_document(api.slower),
        "slow_chance": api.slow_chance,
        "more_requests": api.more_requests,
        "recovered_after_seconds": api.recovered_after,
        "still_off": api.still_off,
        "failed_traces": [
            {"trace": trace} | ({"link": link} if (link := trace_link(links, trace)) else {})
            for trace in api.fault.failed_traces
        ],
    }


def _sample(sample: ApiSample) -> dict[str, Any]:
    return {
        "requests": sample.requests,
        "failed": sample.failed,
        "users": sample.users,
        "success_rate": _rounded(sample.success_rate) if sample.requests else None,
        "seconds": {name: _rounded(value) for name, value in sample.seconds.items()},
        "attempts": _rounded(sample.attempts),
    }


def interval_document(interval: Interval | None) -> list[float | None] | None:
    return None if interval is None else [_rounded(interval.low), _rounded(interval.high)]


def _rounded(value: float) -> float | None:
    return round(value, 6) if isfinite(value) else None


def _by_group(numbers: Any) -> dict[str, int]:
    return {group.value: numbers.get(group, 0) for group in (Group.FAULT, Group.CONTROL)}
