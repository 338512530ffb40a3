import struct
from pathlib import Path

from cutset.reproduce.jvm.record import (
    VisitRow,
    is_loaded,
    read_counts,
    read_functions,
    read_problems,
    read_visits,
)

COUNTS_AT = 200_000 * 28


def leave(out: Path, process: int, rows: list[tuple[int, ...]], names: bytes, counts: tuple[int, ...] = ()) -> None:
    content = b"".join(struct.pack("<7I", *row) for row in rows)
    if counts:
        content = content.ljust(COUNTS_AT, b"\0") + struct.pack(f"<{len(counts)}I", *counts)
    (out / f"visits.{process}").write_bytes(content)
    (out / f"names.{process}").write_bytes(names)


def test_visits_are_read_in_order_of_their_jvms(tmp_path: Path):
    leave(tmp_path, 10, [(1, 2, 1, 0, 9, 0, 1)], "späť\nA.f < @späť\n".encode())
    leave(tmp_path, 2, [(1, 2, 1, 3, 7, 5, 1), (1, 2, 2, 4, 8, 5, 2)], b"main\nA.f < @main\n")
    assert list(read_visits(tmp_path)) == [
        VisitRow(5, 1, 2, "main", "A.f < @main", 1, 3, 7),
        VisitRow(5, 2, 2, "main", "A.f < @main", 2, 4, 8),
        VisitRow(0, 1, 10, "späť", "A.f < @späť", 1, 0, 9),
    ]


def test_what_a_killed_jvm_had_not_completed_is_left_out(tmp_path: Path):
    rows = [(1, 2, 1, 0, 0, 0, 1), (1, 2, 2, 0, 0, 0, 0), (1, 2, 3, 0, 0, 0, 3), (3, 2, 4, 0, 0, 0, 4)]
    leave(tmp_path, 0, rows, b"main\nA.f < @main\nhalf a na")
    assert [row.occurrence for row in read_visits(tmp_path)] == [1, 3]


def test_counts_are_those_of_the_jvm_that_was_there_most_often(tmp_path: Path):
    leave(tmp_path, 0, [(1, 2, 1, 0, 0, 0, 1), (1, 2, 1, 0, 0, 2, 1)], b"a\nb\n", counts=(70_000, 0, 0))
    leave(tmp_path, 1, [(1, 2, 1, 0, 0, 0, 1), (1, 2, 1, 0, 0, 2, 2)], b"a\nb\n")
    assert read_counts(tmp_path) == {0: 70_000, 2: 2}


def test_functions_of_all_jvms_are_put_together(tmp_path: Path):
    (tmp_path / "functions.0").write_bytes(struct.pack("<4I", 0, 12, 1, 5))
    (tmp_path / "functions.1").write_bytes(struct.pack("<3I", 0, 20, 1))  # killed while it wrote
    assert read_functions(tmp_path) == {0: frozenset({12, 20}), 1: frozenset({5})}


def test_problems_of_several_jvms_are_told_once(tmp_path: Path):
    assert read_problems(tmp_path) == []
    (tmp_path / "problems.txt").write_text("one\ntwo\none\n")
    assert read_problems(tmp_path) == ["one", "two"]


def test_an_empty_folder_is_that_of_a_run_without_the_agent(tmp_path: Path):
    assert not is_loaded(tmp_path)
    assert list(read_visits(tmp_path / "gone")) == []
    (tmp_path / "visits.0").touch()
    assert is_loaded(tmp_path)
