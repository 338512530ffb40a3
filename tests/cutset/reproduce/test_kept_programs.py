import os
from pathlib import Path

import pytest

from cutset.reproduce import kept_programs
from cutset.reproduce.kept_programs import load, save


def test_what_is_kept_is_what_was_put_there(tmp_path: Path):
    save(tmp_path / "cache", "key", b"tables")
    assert load(tmp_path / "cache", "key") == b"tables"
    assert load(tmp_path / "cache", "other") is None


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\0" * 100])
def test_what_is_damaged_is_as_if_it_were_not_there(tmp_path: Path, content: bytes):
    save(tmp_path, "key", b"tables")
    [kept] = tmp_path.iterdir()
    kept.write_bytes(content)
    assert load(tmp_path, "key") is None


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path):
    tmp_path.chmod(0o777)
    save(tmp_path, "key", b"tables")
    assert not list(tmp_path.iterdir())
    assert load(tmp_path, "key") is None


def test_a_folder_that_is_made_is_its_owners_alone(tmp_path: Path):
    save(tmp_path / "deep" / "cache", "key", b"tables")
    assert (tmp_path / "deep" / "cache").stat().st_mode & 0o077 == 0


def test_the_oldest_go_if_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    save(tmp_path, "old", b"tables")
    [kept] = tmp_path.iterdir()
    monkeypatch.setattr(kept_programs, "MOST_BYTES", 2 * kept.stat().st_size)
    os.utime(kept, (1, 1))
    save(tmp_path, "one", b"tables")
    save(tmp_path, "two", b"tables")
    assert {path.stem for path in tmp_path.iterdir()} == {"one", "two"}
