"""`cutset classes`: which requests there are, what they call, and which are the most complex."""

from typing import Annotated

import typer

from cutset.app.survey import class_named
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
from cutset.report.survey import classes, request_class
from cutset.select.complexity import DEFAULT_WEIGHTS, Weights
from cutset.survey.run import SurveySettings


def classes_command(
    name: Annotated[str, typer.Argument(help="One class, to show what it calls and when.", metavar="CLASS")] = "",
    top: Annotated[int, typer.Option("--top", min=1, help="So many of the most complex.")] = 20,
    spans_weight: Annotated[float, typer.Option(min=0, max=1e9, help="What a span counts.")] = DEFAULT_WEIGHTS.spans,
    components_weight: Annotated[
        float, typer.Option(min=0, max=1e9, help="What a distinct service, data store or queue counts.")
    ] = DEFAULT_WEIGHTS.components,
    seconds_weight: Annotated[
        float, typer.Option(min=0, max=1e9, help="What a second counts.")
    ] = DEFAULT_WEIGHTS.seconds,
    by_calls: ByCallsOption = False,
    since: SinceOption = "",
    until: UntilOption = "",
    workers: WorkersOption = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """List the request classes of the stored traces, the most complex first: those are worth testing first.

    A class is named by its route or RPC method, else by its path, of which the parts that vary are learned. Its
    complexity is the mean of its traces': spans, distinct components and duration, weighted. With the name of a class:
    its most complex trace, its kinds of executions, the calls that it makes always, sometimes, or only after another
    failed, and the failures that it was seen to tolerate.

    Examples:

    - `cutset classes --top 10`: the short list
    - `cutset classes "GET /cart"`: what it calls, and when
    - `cutset classes --since 24h --workers 8`: of a day's traces
    - `cutset classes --json | jq '.classes[].name'`: all names
    """
    weights = Weights(spans_weight, components_weight, seconds_weight)
    survey = show_survey(store, since, until, workers, SurveySettings(weights, by_calls))
    if name:
        summary = class_named(survey, name)
        if as_json:
            print_document(request_class.to_document(name, summary, survey.traces, weights))
        else:
            print_lines(request_class.to_lines(name, summary))
    elif as_json:
        print_document(classes.to_document(survey, weights))
    else:
        print_lines(classes.to_lines(survey, weights, top))
