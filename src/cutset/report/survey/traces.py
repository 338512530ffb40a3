"""Which traces are stored: of what time, how many, of which services, from where, and what was skipped."""

from collections.abc import Iterator, Sequence
from typing import Any

from cutset.model.moments import show_moment
from cutset.model.wording import count
from cutset.report.printable import printable
from cutset.report.survey.table import percent, table_lines
from cutset.store.manifest import IngestRecord, SpanStore
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
    if refused := list(refused_lines(stored)):
        yield from ("", *refused)
    yield "\n[bold]latest ingests[/]"
    for record in stored.log[: -SHOWN_INGESTS - 1 : -1]:
        skipped = "".join(f"; skipped {times:,} × {reason}" for reason, times in record.skipped.items())
        refusal = "; refused" if record.problem and not record.spans_read else "; not to its end" * bool(record.problem)
        spans = f"{count(record.spans_read, 'span')}, {record.spans_new:,} new"
        yield f"{_at(record)}  {printable(record.source)}  [dim]{spans}{refusal}{printable(skipped)}[/]"


def refused_lines(stored: SpanStore) -> Iterator[str]:
    refused = latest_refused(stored.log)
    if refused:
        yield f"[bold]{count(len(refused), 'source')} refused, or not read to the end[/]"
    for record in refused[:SHOWN_INGESTS]:
        kept = f"  [dim]{count(record.spans_read, 'span')} before that are kept[/]" if record.spans_read else ""
        yield f"{_at(record)}  {printable(record.problem)}{kept}"
    if len(refused) > SHOWN_INGESTS:
        yield f"[dim]and {len(refused) - SHOWN_INGESTS:,} more; `--json` has all[/]"


def latest_refused(log: Sequence[IngestRecord]) -> list[IngestRecord]:
    """The latest first; not what was read since."""
    last = {record.source: record for record in log}
    return [record for record in reversed(last.values()) if record.problem]


def _at(record: IngestRecord) -> str:
    return show_moment(int(record.at * 1e9))


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
                "problem": record.problem,
            }
            for record in stored.log
        ],
        "refused": [
            {"source": record.source, "at": record.at, "problem": record.problem}
            for record in latest_refused(stored.log)
        ],
        "cursors": dict(stored.cursors),
    }
