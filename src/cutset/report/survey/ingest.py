"""What was read into the store, and what could not be: as text for people and as JSON for machines."""

from collections.abc import Iterator
from typing import Any

from rich.markup import escape

from cutset.model.survey import Ingested
from cutset.model.wording import count

SHOWN_PROBLEMS = 10  # each when it is met; all are in the log


def to_lines(ingested: Ingested) -> Iterator[str]:
    known = ingested.spans_read - ingested.spans_new
    stored = f", {count(known, 'span')} of them stored already" if known else ""
    yield (
        f"Read {count(ingested.spans_read, 'span')} of {count(ingested.sources, 'source')} "
        f"in {ingested.seconds:.1f} s{stored}"
    )
    for skipped in ingested.skipped:
        yield f"  skipped {skipped.times:,} × {escape(skipped.reason)}  [dim]first at {escape(skipped.first_at)}[/]"
    if ingested.problems:
        refused = count(len(ingested.problems), "source")
        yield f"[yellow]{refused} not read, or not to the end[/]; `cutset traces` says which and why"
    if ingested.spans_forgotten:
        yield f"Forgot {count(ingested.spans_forgotten, 'span')} that were too old"
    yield "[dim]Next: `cutset classes` shows which requests these are[/]"


def to_document(ingested: Ingested) -> dict[str, Any]:
    return {
        "sources": ingested.sources,
        "spans_read": ingested.spans_read,
        "spans_new": ingested.spans_new,
        "spans_forgotten": ingested.spans_forgotten,
        "skipped": [
            {"reason": skipped.reason, "count": skipped.times, "first_at": skipped.first_at}
            for skipped in ingested.skipped
        ],
        "problems": list(ingested.problems),
        "seconds": round(ingested.seconds, 3),
    }
