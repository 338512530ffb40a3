"""`cutset graph`: a picture of which services call which."""

from pathlib import Path
from typing import Annotated

import typer

from cutset.app.survey import draw_graph, part_of_graph, service_graph
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
from cutset.report.survey.graph import to_document, to_lines
from cutset.survey.run import SurveySettings


def graph_command(
    out: Annotated[Path, typer.Option("--out", "-o", help="The SVG file to write.")] = Path("graph.svg"),
    name: Annotated[str, typer.Option("--class", help="Only this request class.", metavar="CLASS")] = "",
    centre: Annotated[
        str, typer.Option("--around", help="Only this service, who calls it, and whom it calls.", metavar="SERVICE")
    ] = "",
    hops: Annotated[int, typer.Option("--hops", min=1, help="With `--around`: through so many calls.")] = 1,
    top: Annotated[
        int | None, typer.Option("--top", min=1, help="Only so many services, those with the most calls.")
    ] = None,
    by_calls: ByCallsOption = False,
    since: SinceOption = "",
    until: UntilOption = "",
    workers: WorkersOption = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Draw the services of the stored traces and their calls, with the first of `cutset workflows` highlighted.

    Lines are as wide as there are calls, and red where calls fail; a legend explains what occurs in the picture. Of a
    large system a part says more: one request class, the surroundings of one service, or the largest services.

    Examples:

    - `cutset graph -o shop.svg`: then open it in a browser
    - `cutset graph --class "POST /cart/checkout" -o checkout.svg`: one kind of request
    - `cutset graph --top 30 -o largest.svg`: the thirty services with the most calls
    - `cutset graph --around cart --hops 2 -o cart.svg`: who needs the cart, and whom it needs
    - `cutset graph --json | jq '.calls[] | select(.when == "after-failure")'`: fallbacks seen in the wild
    """
    survey = show_survey(store, since, until, workers, SurveySettings(by_calls=by_calls))
    graph = part_of_graph(service_graph(survey, name), centre=centre, hops=hops, top=top)
    if as_json:
        print_document(to_document(graph))
        return
    draw_graph(graph, out, title=_title(name, centre))
    print_lines(to_lines(graph, out))


def _title(name: str, centre: str) -> str:
    title = f"Calls around {centre}" if centre else "Calls between services"
    return f"{title} in {name}" if name and centre else name or title
