import pickle
from pathlib import Path

import duckdb
from tests.samples.stored_spans import HOUR, NOON, many, span

from cutset.model.span import KEPT_ATTRIBUTES, row_of
from cutset.store.staging import stage_rows, stage_spans


def test_what_workers_return_can_be_sent_between_processes(tmp_path):
    staged = stage_spans(tmp_path, many(8))
    assert pickle.loads(pickle.dumps(staged)) == staged


def test_what_is_of_one_hour_is_told(tmp_path: Path) -> None:
    one, two = stage_spans(tmp_path, many(8)), stage_spans(tmp_path, [span(), span(start_ns=NOON + HOUR)])
    assert (one.spans, one.of_one_hour) == (8, True)
    assert (two.spans, two.of_one_hour) == (2, False)
    assert Path(one.file).parent == tmp_path


def test_labels_that_spans_share_are_written_with_each_of_them(tmp_path: Path) -> None:
    """Whether they are one object, equal ones, or have values for columns that no other has."""
    spans = [
        span(span_id="1" * 16),
        span(span_id="2" * 16, error=True, attributes={"url.path": "/x"}),
        span(span_id="3" * 16, attributes={"peer.service": "shop"}),
    ]
    rows = [row_of(each) for each in (*spans, *spans)]
    rows.append((*rows[0][:5], rows[1][5]))
    staged = stage_rows(tmp_path, rows)

    columns = ["trace_id", "span_id", "parent_id", "start_ns", "end_ns", "service", "name", "kind", "error"]
    query = f"SELECT {', '.join([*columns, *KEPT_ATTRIBUTES.values()])} FROM '{staged.file}'"
    assert sorted(duckdb.sql(query).fetchall()) == sorted((*row[:5], *row[5]) for row in rows)
