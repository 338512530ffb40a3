"""APIs by how much their failure would touch (MicroFI §4.4): as text for people and as JSON for machines."""

from collections.abc import Iterator, Mapping
from typing import Any

from cutset.model.point import Point
from cutset.model.wording import count
from cutset.report.survey.table import table_lines
from cutset.select.api_rank import Preference
from cutset.select.rankings import Ranking

Scores = Mapping[Ranking, Mapping[Point, float]]


def to_lines(scores: Scores, by: Ranking, top: int) -> Iterator[str]:
    ranked = highest_first(scores[by])
    rows = [
        (str(place), *(f"{scores[ranking][api]:.3f}" for ranking in Ranking), str(api))
        for place, api in enumerate(ranked[:top], 1)
    ]
    yield from table_lines(("", *Ranking, "API"), rows)
    if len(ranked) > top:
        yield f"\n[dim]{count(len(ranked), 'API')} in all; `--top` shows more[/]"


def to_document(scores: Scores, by: Ranking, preference: Preference) -> dict[str, Any]:
    apis = [
        {"api": str(api)} | {str(ranking): scores[ranking][api] for ranking in Ranking}
        for api in highest_first(scores[by])
    ]
    return {"by": by, "preference": preference, "apis": apis}


def highest_first(scores: Mapping[Point, float]) -> list[Point]:
    return sorted(scores, key=lambda api: (-scores[api], api))
