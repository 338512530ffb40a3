"""`cutset rank`: the APIs whose failure would touch most."""

from typing import Annotated

import typer

from cutset.app.survey import rank_apis
from cutset.cli.options import (
    DEFAULT_STORE,
    JsonOption,
    SinceOption,
    StoreOption,
    TopOption,
    UntilOption,
    WorkersOption,
)
from cutset.cli.output import print_document, print_lines
from cutset.cli.survey import show_survey
from cutset.report.survey.rank import to_document, to_lines
from cutset.select.api_rank import Preference
from cutset.select.rankings import Ranking


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
    scores = rank_apis(show_survey(store, since, until, workers), preference)
    if as_json:
        print_document(to_document(scores, by, preference))
    else:
        print_lines(to_lines(scores, by, top))
