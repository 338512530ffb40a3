"""Spans, a store of them, and what is in it then."""

import tempfile
from collections.abc import Collection
from pathlib import Path

from cutset.model.span import KEPT_ATTRIBUTES, Span, SpanKind
from cutset.store.manifest import SpanStore, open_spans
from cutset.store.parquet import COLUMNS, connect, reading
from cutset.store.place import address_of
from cutset.store.spans import begin_ingest

HOUR = 3_600_000_000_000
NOON = 495_036 * HOUR  # 2026-06-22T12


def span(trace_id: str = "t1", span_id: str = "s1", start_ns: int = NOON, **fields: object) -> Span:
    end_ns = fields.pop("end_ns", start_ns + 10)
    return Span(trace_id, span_id, "", "cart", "GetCart", SpanKind.SERVER, start_ns, end_ns, **fields)  # type: ignore[arg-type]


def many(count: int, start_ns: int = NOON, prefix: str = "t") -> list[Span]:
    return [span(f"{prefix}{number // 4}", f"s{number}", start_ns + number) for number in range(count)]


def ingest(store: Path, spans: list[Span], source: str = "file") -> None:
    with begin_ingest(store) as opened:
        opened.add(source, spans)
        opened.log(source, format="otlp", spans_read=len(spans), skipped={})


def contents(store: Path) -> list[Span]:
    stored = open_spans(store)
    ids = {"a", "b", *(f"{prefix}{number}" for prefix in "tu" for number in range(100))}
    return sorted((each for spans in spans_of(stored, ids).values() for each in spans), key=repr)


def files(store: Path) -> set[str]:
    return {str(file.relative_to(store / "traces")) for file in (store / "traces").rglob("*") if file.is_file()}


def listed(store: Path) -> set[str]:
    return {"manifest.json", "lock", ".gitignore", *(part.file for part in open_spans(store).parts)}


def spans_of(store: SpanStore, trace_ids: Collection[str]) -> dict[str, list[Span]]:
    """These traces, whole, each in order of start. Those that are not stored are left out."""
    files = [
        address_of(store.folder, part.file)
        for part in store.parts
        if any(part.first_trace_id <= trace_id <= part.last_trace_id for trace_id in trace_ids)
    ]
    found: dict[str, list[Span]] = {}
    with connect(Path(tempfile.gettempdir())) as database, reading(files) as spans:
        rows = database.execute(
            f"""
            SELECT {", ".join(COLUMNS)} FROM {spans}
            WHERE trace_id IN (SELECT unnest($ids)) ORDER BY trace_id, start_ns, span_id
            """,
            {"ids": list(trace_ids)},
        ).fetchall()
    for trace_id, span_id, parent_id, service, name, kind, start_ns, end_ns, error, *values in rows:
        attributes = {key: value for key, value in zip(KEPT_ATTRIBUTES, values, strict=True) if value}
        span = Span(trace_id, span_id, parent_id, service, name, SpanKind(kind), start_ns, end_ns, error, attributes)
        found.setdefault(trace_id, []).append(span)
    return found
