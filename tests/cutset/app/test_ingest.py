import gzip
import json
from pathlib import Path

import duckdb
import pytest
from tests.samples.otlp_shop import LINES, SPANS

from cutset.app.ingest import IngestSettings, SourcesFound, forget_older, ingest_traces, stored_traces
from cutset.errors import InputError, UsageError
from cutset.model.steps import finished
from cutset.survey.ingest import SourceRead
from cutset.traces.files.read import Format

DAY_NS = 86_400_000_000_000


def test_files_are_read_once_and_told_of(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(LINES[:10]))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(LINES).encode()))
    told: list[object] = []
    ingested = finished(ingest_traces(tmp_path / "store", [str(tmp_path)], IngestSettings(workers=1)), told.append)

    assert told[0] == SourcesFound(2, sum(path.stat().st_size for path in tmp_path.glob("*.jsonl*")))
    assert [Path(event.name).name for event in told if isinstance(event, SourceRead)] == ["a.jsonl", "b.jsonl.gz"]
    assert (ingested.sources, ingested.spans_new, ingested.spans_forgotten) == (2, SPANS, 0)
    assert ingested.spans_read > SPANS
    stored, totals = stored_traces(tmp_path / "store")
    assert (stored.spans, totals.traces) == (SPANS, 20)


def test_no_plan_gets_into_the_store(tmp_path: Path) -> None:
    plan = "cutset=2h.dGpSiB7A~A503.Wwhp.fZvPbyk3hXSILZQ8"
    attributes = [{"key": key, "value": {"stringValue": plan}} for key in ("baggage", "http.request.header.tracestate")]
    span = {"traceId": "1" * 32, "spanId": "2" * 16, "name": "GET /", "traceState": plan, "attributes": attributes}
    line = {"resourceSpans": [{"scopeSpans": [{"spans": [span | {"startTimeUnixNano": "1800000000000000000"}]}]}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(line))
    finished(ingest_traces(tmp_path / "store", [str(tmp_path / "a.jsonl")], IngestSettings(workers=1)), lambda _: None)

    (part,) = (tmp_path / "store").rglob("*.parquet")
    rows = duckdb.sql(f"SELECT * FROM '{part}'").fetchall()
    assert len(rows) == 1
    assert "2h." not in str(rows)


def test_what_is_too_old_is_forgotten_at_once_or_later(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(LINES))
    store, source = tmp_path / "store", [str(tmp_path / "a.jsonl")]
    assert finished(ingest_traces(store, source, IngestSettings(keep_ns=DAY_NS))).spans_forgotten == SPANS
    finished(ingest_traces(store, source))
    assert forget_older(store, DAY_NS) == SPANS
    assert stored_traces(store)[0].spans == 0


def test_a_file_that_cannot_be_read_is_told_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(LINES))
    (tmp_path / "b.txt").write_text("no traces at all")
    ingested = finished(ingest_traces(tmp_path / "store", [str(tmp_path)], IngestSettings(workers=1)))
    assert ingested.spans_new == SPANS
    assert len(ingested.problems) == 1
    assert "b.txt" in ingested.problems[0]


def test_to_read_nothing_is_an_error_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("no traces at all")
    with pytest.raises(InputError, match=r"The format of .*b\.txt is not known"):
        finished(ingest_traces(tmp_path / "store", [str(tmp_path / "b.txt")]))
    settings = IngestSettings(format=Format.OTLP_JSON)
    with pytest.raises(InputError, match=r"b\.txt has no spans in the format `otlp-json`: it starts with"):
        finished(ingest_traces(tmp_path / "store", [str(tmp_path / "b.txt")], settings))


def test_an_address_with_a_mistake_is_told_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(LINES))
    with pytest.raises(UsageError, match="is no kind of trace server"):
        finished(ingest_traces(tmp_path / "store", [str(tmp_path / "a.jsonl"), "jager+http://x"]))
    assert stored_traces(tmp_path / "store")[0].spans == 0
