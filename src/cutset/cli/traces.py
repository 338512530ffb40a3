"""`cutset traces`: what is stored, and forgetting what is too old."""

from typing import Annotated

import typer

from cutset.app.ingest import forget_older, stored_traces
from cutset.app.survey import no_traces
from cutset.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from cutset.cli.output import notes, print_document, print_lines
from cutset.model.moments import parse_duration_ns
from cutset.model.wording import count
from cutset.report.survey.traces import refused_lines, to_document, to_lines


def traces_command(
    keep: Annotated[str, typer.Option("--keep", help="Forget what is older first, as in `30d`.")] = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Show which traces are stored: of what time, how many, of which services, from where; what was refused, and why.

    What was refused once and read since is not listed any more. Traces are kept by the hour: `--keep` forgets whole
    hours.

    Examples:

    - `cutset traces`
    - `cutset traces --keep 30d`: forget what is older than thirty days
    - `cutset traces --json | jq -r '.refused[].problem'`: what was not read, and why
    """
    if keep:
        notes().print(f"Forgot {count(forget_older(store, parse_duration_ns(keep)), 'span')}")
    stored, totals = stored_traces(store)
    if as_json:
        print_document(to_document(stored, totals))
    elif stored.spans:
        print_lines(to_lines(stored, totals))
    elif keep:
        print_lines(["No traces are left"])
    else:
        for line in refused_lines(stored):
            notes().print(line)
        raise no_traces(store)
