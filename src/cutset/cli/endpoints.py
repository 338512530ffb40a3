"""`cutset endpoints`: where faults can be injected, and the few places that stand for all."""

from typing import Annotated

import typer

from cutset.app.survey import find_endpoints
from cutset.cli.options import (
    DEFAULT_STORE,
    ByCallsOption,
    JsonOption,
    SinceOption,
    StoreOption,
    UntilOption,
    WorkersOption,
)
from cutset.cli.output import print_document, print_lines
from cutset.cli.survey import show_survey
from cutset.report.survey.endpoints import to_document, to_lines
from cutset.survey.run import SurveySettings


def endpoints_command(
    top: Annotated[int, typer.Option("--top", min=1, help="Targets of so many of the most complex classes.")] = 20,
    services_each: Annotated[
        int, typer.Option("--services-each", min=1, help="In how many services each endpoint is a target.")
    ] = 3,
    seed: Annotated[int, typer.Option("--seed", help="Decides which services, where there are more.")] = 0,
    by_calls: ByCallsOption = False,
    since: SinceOption = "",
    until: UntilOption = "",
    workers: WorkersOption = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """List the endpoints of the stored traces (component/framework/method), and which of them to inject at (CAST).

    Services that share a library handle its failures alike, so that a few of them stand for all. Within a trace the
    last call of an endpoint is the one to fail: the system's state is the most advanced then.

    Examples:

    - `cutset endpoints --top 5`: targets within the five most complex request classes
    - `cutset endpoints --json | jq -r '.targets[].point'`: as points that other commands understand
    """
    survey = show_survey(store, since, until, workers, SurveySettings(by_calls=by_calls))
    choice = find_endpoints(survey, top=top, services_each=services_each, seed=seed)
    if as_json:
        print_document(to_document(choice))
    else:
        print_lines(to_lines(choice))
