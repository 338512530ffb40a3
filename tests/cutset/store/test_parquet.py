from pathlib import Path

import pytest

from cutset.errors import InputError
from cutset.model.span import KEPT_ATTRIBUTES, Span, SpanLabel
from cutset.store.parquet import COLUMNS, connect, hour_name, hour_number, layout_of, quoted, reading


def test_the_columns_are_the_fields_of_spans_and_labels():
    assert set(SpanLabel.__slots__) <= set(COLUMNS)
    assert set(COLUMNS) == (set(Span.__slots__) - {"attributes"}) | set(KEPT_ATTRIBUTES.values())


def test_the_database_prints_nothing_of_its_own_and_stays_off_the_network(tmp_path):
    with connect(tmp_path) as database:
        for setting in ("enable_progress_bar", "autoinstall_known_extensions"):
            assert database.execute(f"SELECT current_setting('{setting}')").fetchall() == [(False,)]


def test_no_files_are_a_table_without_rows(tmp_path: Path) -> None:
    with connect(tmp_path) as database, reading([]) as spans:
        assert database.execute(f"SELECT count(*), max(start_ns) FROM {spans}").fetchall() == [(0, None)]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 and then nothing")

    def count(file: Path) -> None:
        with connect(tmp_path) as database, reading([str(file)]) as spans:
            database.execute(f"SELECT count(*) FROM {spans}")

    for name, problem in (("damaged.parquet", "is damaged"), ("absent.parquet", "is missing")):
        with pytest.raises(InputError, match=f"{name}` {problem}"):
            count(tmp_path / name)


def test_names_and_layouts() -> None:
    assert hour_name(495_036) == "2026-06-22T12"
    assert all(hour_number(hour_name(hour)) == hour for hour in (0, 495_036, 2_562_047))
    assert quoted(Path("it's")) == "'it''s'"
    assert [layout_of(spans).split()[-1] for spans in (1, 320_000, 10**9)] == ["2048", "10000", "20480"]
