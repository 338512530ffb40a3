from pathlib import Path

import pytest

from cutset.reproduce import kept_programs
from cutset.reproduce.jvm.program_cache import load, save, tables_key


@pytest.fixture(name="entries")
def fixture_entries(tmp_path: Path) -> list[Path]:
    jar, folder = tmp_path / "a.jar", tmp_path / "classes"
    jar.write_bytes(b"jar")
    (folder / "shop").mkdir(parents=True)
    (folder / "shop/Till.class").write_bytes(b"till")
    (folder / "shop/notes.txt").write_text("a")
    return [jar, folder, tmp_path / "not there.jar"]


def key(entries: list[Path], request: object = "request", java: tuple[str, int] = ("java", 17)) -> str:
    return tables_key(request, map(str, entries), entries[0], java)


def test_a_program_is_known_by_all_that_its_reading_depends_on(entries: list[Path]):
    known = {key(entries), key(entries, "other"), key(entries, java=("java", 21)), key(entries[:1])}
    assert len(known) == 4
    jar, folder, _ = entries
    (folder / "shop/notes.txt").write_text("b")
    assert key(entries) in known
    (folder / "shop/Till.class").write_bytes(b"other")
    assert key(entries) not in known
    known.add(key(entries))
    jar.write_bytes(b"other")
    assert key(entries) not in known


def test_what_is_kept_is_what_was_read(tmp_path: Path):
    tables = b'{"format": 1}\n' * 1000
    save(tmp_path, "key", tables)
    assert load(tmp_path, "key") == tables
    assert load(tmp_path, "other") is None
    [kept] = tmp_path.iterdir()
    assert kept.stat().st_size < len(tables) / 10


def test_what_was_not_kept_by_this_is_read_anew(tmp_path: Path):
    kept_programs.save(tmp_path, "key", b"of something else")
    assert load(tmp_path, "key") is None
