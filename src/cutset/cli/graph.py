"""`cutset graph`: a picture of which services call which."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cutset.app.survey import draw_graph, service_graph
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
from cutset.model.wording import count
from cutset.report.survey.graph import to_document
from cutset.survey.run import SurveySettings


def graph_command(
    out: Annotated[Path, typer.Option("--out", "-o", help="The SVG file to write.")] = Path("graph.svg"),
    name: Annotated[str, typer.Option("--class", help="Only this request class.", metavar="CLASS")] = "",
    by_calls: ByCallsOption = False,
    since: SinceOption = "",
    until: UntilOption = "",
    workers: WorkersOption = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Draw the services of the stored traces and their calls, with the most critical workflow highlighted.

    Lines are as wide as there are calls; dotted ones are made sometimes, dashed ones only after another call failed.

    Examples:

    - `cutset graph -o shop.svg`: then open it in a browser
    - `cutset graph --class "POST /cart/checkout" -o checkout.svg`: one kind of request
    - `cutset graph --json | jq '.calls[] | select(.when == "after-failure")'`: fallbacks seen in the wild
    """
    survey = show_survey(store, since, until, workers, SurveySettings(by_calls=by_calls))
    graph = service_graph(survey, name)
    if as_json:
        print_document(to_document(graph))
        return
    draw_graph(graph, out, title=name or "Calls between services")
    drawn = f"{count(len(graph.nodes), 'service')} and {count(len(graph.edges), 'connection')}"
    print_lines([f"Drew {drawn} in {escape(str(out))}"])
