from pathlib import Path

import pytest

from cutset.store.place import address_of, is_there, keep_files, move_in, names_in, read_file, replace_file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "staging").mkdir()
    return tmp_path


def test_a_file_is_replaced_whole(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_file(folder, "cache/a")
    for content in (b"first", b"second"):
        replace_file(folder, "cache/a", content)
        assert read_file(folder, "cache/a") == content
    assert names_in(folder, "cache/*") == {"cache/a"}
    assert address_of(folder, "cache/a") == str(folder / "cache" / "a")
    assert is_there(address_of(folder, "cache/a"))
    assert not any((folder / "staging").iterdir())


def test_a_finished_file_is_moved_to_its_place(folder: Path) -> None:
    (folder / "staging" / "x").write_text("spans")
    move_in(folder / "staging" / "x", folder, "2026-06-22T12/x")
    assert read_file(folder, "2026-06-22T12/x") == b"spans"


def test_other_files_than_those_to_keep_are_removed_with_folders_that_are_empty_then(folder: Path) -> None:
    for name in ("1T1/a.parquet", "1T1/b.parquet", "1T2/c.parquet", "1T1/d.txt"):
        replace_file(folder, name, b"")
    keep_files(folder, "*T*/*.parquet", {"1T1/a.parquet"})
    assert {str(file.relative_to(folder)) for file in folder.glob("*T*/*")} == {"1T1/a.parquet", "1T1/d.txt"}
    assert not (folder / "1T2").exists()
