"""How many requests of a recording came back as recorded, by request class and way of sending."""

from collections.abc import Iterator, Mapping
from typing import Any

from cutset.report.survey.table import table_lines
from cutset.workload.replay import ReplayTally

MAX_REASONS = 3  # shown of each request class

Tallies = Mapping[str, ReplayTally]  # by request class


def to_lines(outcomes: Mapping[str, Tallies]) -> Iterator[str]:
    rows = []
    for name in sorted({name for tallies in outcomes.values() for name in tallies}):
        shares = [_share(tallies[name].succeeded, tallies[name].tried) for tallies in outcomes.values()]
        first, *others = _reasons(name, outcomes) or [""]
        rows.append((name, *shares, first))
        rows += [("", *("" for _ in outcomes), reason) for reason in others]
    rows.append(("all", *(_share(*_total(tallies)) for tallies in outcomes.values()), ""))
    yield from table_lines(("request", *(f"{kind}: as recorded" for kind in outcomes), "because"), rows)


def to_document(outcomes: Mapping[str, Tallies]) -> dict[str, Any]:
    return {kind: _document(tallies) for kind, tallies in outcomes.items()}


def _document(tallies: Tallies) -> dict[str, Any]:
    succeeded, tried = _total(tallies)
    return {
        "tried": tried,
        "succeeded": succeeded,
        "classes": {
            name: {"tried": tally.tried, "succeeded": tally.succeeded, "failures": dict(tally.failures)}
            for name, tally in tallies.items()
        },
    }


def _total(tallies: Tallies) -> tuple[int, int]:
    return sum(tally.succeeded for tally in tallies.values()), sum(tally.tried for tally in tallies.values())


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({part / whole:.1%})"


def _reasons(name: str, outcomes: Mapping[str, Tallies]) -> list[str]:
    return [
        f"{kind}: {reason} ({number})" if len(outcomes) > 1 else f"{reason} ({number})"
        for kind, tallies in outcomes.items()
        for reason, number in tallies[name].failures.most_common(MAX_REASONS)
    ]
