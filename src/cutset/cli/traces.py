"""`cutset traces`: what is stored, and forgetting what is too old."""

import json
import time
from typing import Annotated

import typer
from rich.console import Console

from cutset.cli.moments import parse_duration_ns, show_moment
from cutset.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from cutset.cli.survey import percent, print_table, printable
from cutset.errors import UsageError
from cutset.model.wording import count
from cutset.store.manifest import open_spans
from cutset.store.shapes import totals
from cutset.store.spans import forget_before

SHOWN_SERVICES = 20
SHOWN_INGESTS = 10


def traces_command(
    keep: Annotated[str, typer.Option("--keep", help="Forget what is older first, as in `30d`.")] = "",
    as_json: JsonOption = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Show which traces are stored: of what time, how many, of which services, from where, and what was skipped.

    Traces are kept by the hour: `--keep` forgets whole hours.

    Examples:

    - `cutset traces`
    - `cutset traces --keep 30d`: forget what is older than thirty days
    """
    console = Console(highlight=False, soft_wrap=True)
    if keep:
        forgotten = forget_before(store, time.time_ns() - parse_duration_ns(keep))
        Console(stderr=True, highlight=False).print(f"Forgot {count(forgotten, 'span')}")
    stored = open_spans(store)
    if keep and not stored.spans and not as_json:
        console.print("No traces are left")
        return
    if not stored.spans and not as_json:
        raise UsageError(f"There are no traces in `{store}`", hint="Read some with `cutset ingest SOURCE…`")
    found = totals(stored)
    if as_json:
        document = {
            "traces": found.traces,
            "spans": found.spans,
            "first_ns": stored.first_ns,
            "last_ns": stored.last_ns,
            "services": [{"name": name, "spans": spans, "errors": errors} for name, spans, errors in found.services],
            "hours": dict(found.hours),
            "ingests": [
                {
                    "source": record.source,
                    "at": record.at,
                    "spans_read": record.spans_read,
                    "spans_new": record.spans_new,
                    "skipped": dict(record.skipped),
                }
                for record in stored.log
            ],
            "cursors": dict(stored.cursors),
        }
        print(json.dumps(document, indent=2))
        return
    console.print(
        f"{count(found.traces, 'trace')}, {count(found.spans, 'span')}, {count(len(found.services), 'service')}, "
        f"from {show_moment(stored.first_ns)} to {show_moment(stored.last_ns)} UTC"
    )
    console.print()
    rows = [(f"{spans:,}", percent(errors, spans), name) for name, spans, errors in found.services[:SHOWN_SERVICES]]
    print_table(console, ("spans", "errors", "service"), rows)
    if len(found.services) > SHOWN_SERVICES:
        console.print(f"and {len(found.services) - SHOWN_SERVICES:,} more", style="dim")
    console.print("\n[bold]latest ingests[/]")
    for record in stored.log[-SHOWN_INGESTS:]:
        skipped = "".join(f"; skipped {times:,} × {reason}" for reason, times in record.skipped.items())
        spans = f"{count(record.spans_read, 'span')}, {record.spans_new:,} new"
        at = show_moment(int(record.at * 1e9))
        console.print(f"{at}  {printable(record.source)}  [dim]{spans}{printable(skipped)}[/]")
