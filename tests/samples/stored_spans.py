"""Spans, a store of them, and what is in it then."""

from pathlib import Path

from cutset.model.span import Span, SpanKind
from cutset.store.manifest import open_spans
from cutset.store.shapes import spans_of
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
