"""`cutset rank`: the APIs whose failure would touch most."""

import json
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console

from cutset.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    SinceOption,
    StoreOption,
    TopOption,
    UntilOption,
    WorkersOption,
)
from cutset.cli.survey import print_table, run_survey
from cutset.errors import UsageError
from cutset.model.wording import count
from cutset.select.api_rank import Preference, api_rank
from cutset.select.rankings import dynamic_rank, static_rank, trace_kinds


class Ranking(StrEnum):
    API_RANK = "api-rank"
    STATIC = "static"
    DYNAMIC = "dynamic"


def rank_command(
    by: Annotated[
        Ranking, typer.Option("--by", help="*static*: by the number of callers; *dynamic*: by the number of calls.")
    ] = Ranking.API_RANK,
    preference: Annotated[
        Preference, typer.Option("--preference", help="Whether kinds of traces that were seen more often count more.")
    ] = Preference.UNIFORM,
    top: TopOption = 20,
    since: SinceOption = "",
    until: UntilOption = "",
    workers: WorkersOption = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Rank the APIs of the stored traces by APIRank (MicroFI): how much would be affected if all their calls failed.

    An API is important if important APIs call it, and if it is part of many kinds of traces. All scores are relative
    to the highest.

    Examples:

    - `cutset rank --top 10`
    - `cutset rank --preference frequency`: what is done often counts more
    - `cutset rank --by dynamic --json`: by number of calls alone
    """
    kinds = run_survey(store, since, until, workers).kinds
    scores = {
        Ranking.API_RANK: api_rank(trace_kinds(kinds), preference=preference),
        Ranking.STATIC: static_rank(kinds),
        Ranking.DYNAMIC: dynamic_rank(kinds),
    }
    ranked = sorted(scores[by], key=lambda api: (-scores[by][api], api))
    if not ranked:
        raise UsageError("No trace has a call from one service to another", hint="`cutset classes` shows what there is")
    if as_json:
        documents = [{"api": str(api)} | {each: scores[each][api] for each in Ranking} for api in ranked]
        print(json.dumps({"by": by, "preference": preference, "apis": documents}, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    rows = [
        (str(place), *(f"{scores[each][api]:.3f}" for each in Ranking), str(api))
        for place, api in enumerate(ranked[:top], 1)
    ]
    print_table(console, ("", *Ranking, "API"), rows)
    if len(ranked) > top:
        console.print(f"\n{count(len(ranked), 'API')} in all; `--top` shows more", style="dim")
