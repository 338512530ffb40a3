"""Which traces are stored: of what time, how many, of which services, from where, and what was skipped."""

from collections.abc import Iterator
from typing import Any

from cutset.model.moments import show_moment
from cutset.model.wording import count
from cutset.report.printable import printable
from cutset.report.survey.table import percent, table_lines
from cutset.store.manifest import SpanStore
from cutset.store.shapes import Totals

SHOWN_SERVICES = 20
SHOWN_INGESTS = 10


def to_lines(stored: SpanStore, totals: Totals) -> Iterator[str]:
    yield (
        f"{count(totals.traces, 'trace')}, {count(totals.spans, 'span')}, {count(len(totals.services), 'service')}, "
        f"from {show_moment(stored.first_ns)} to {show_moment(stored.last_ns)} UTC"
    )
    yield ""
    rows = [(f"{spans:,}", percent(errors, spans), name) for name, spans, errors in totals.services[:SHOWN_SERVICES]]
    yield from table_lines(("spans", "errors", "service"), rows)
    if len(totals.services) > SHOWN_SERVICES:
        yield f"[dim]and {len(totals.services) - SHOWN_SERVICES:,} more[/]"
    yield "\n[bold]latest ingests[/]"
    for record in stored.log[-SHOWN_INGESTS:]:
        skipped = "".join(f"; skipped {times:,} × {reason}" for reason, times in record.skipped.items())
        spans = f"{count(record.spans_read, 'span')}, {record.spans_new:,} new"
        at = show_moment(int(record.at * 1e9))
        yield f"{at}  {printable(record.source)}  [dim]{spans}{printable(skipped)}[/]"


def to_document(stored: SpanStore, totals: Totals) -> dict[str, Any]:
    return {
        "traces": totals.traces,
        "spans": totals.spans,
        "first_ns": stored.first_ns,
        "last_ns": stored.last_ns,
        "services": [{"name": name, "spans": spans, "errors": errors} for name, spans, errors in totals.services],
        "hours": dict(totals.hours),
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
