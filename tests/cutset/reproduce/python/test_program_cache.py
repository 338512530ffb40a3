import os
from pathlib import Path

import pytest

from cutset.reproduce import kept_programs
from cutset.reproduce.python.program_cache import load, program_key, save
from cutset.reproduce.python.source import read_program
from cutset.reproduce.python.syntax import PythonProgram

SOURCE = """
class Shop:
    def sell(self, sock):
        try:
            return sock.recv()
        except OSError as error:
            self.error = error
            log.error('lost %s', error)
        if self.error:
            raise ValueError('x')
"""


@pytest.fixture(name="source")
def fixture_source(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SOURCE)
    return tmp_path


def read(source: Path, cache: Path) -> PythonProgram:
    return read_program(["shop"], [str(source)], cache=cache)


def test_what_is_kept_is_what_was_read(source: Path):
    fresh = read_program(["shop"], [str(source)])
    cache = source / "cache"
    assert read(source, cache) == fresh  # and is kept
    [kept] = cache.iterdir()
    assert load(cache, kept.stem) == fresh
    assert read(source, cache) == fresh


def test_another_text_is_read_anew(source: Path):
    cache = source / "cache"
    read(source, cache)
    (source / "shop.py").write_text(SOURCE + "def more(sock): sock.send()\n")
    assert "shop::more::sock.send" in map(str, read(source, cache).sites)
    assert len(list(cache.iterdir())) == 2


def test_a_program_is_known_by_all_that_its_reading_depends_on():
    key = program_key([("a", "/a.py", True, "x = 1")])
    assert key == program_key([("a", "/a.py", True, "x = 1")])
    for other in (("b", "/a.py", True, "x = 1"), ("a", "/b.py", True, "x = 1"), ("a", "/a.py", False, "x = 1")):
        assert key != program_key([other])
    assert key != program_key([("a", "/a.py", True, "x = 2")])
    assert program_key([("a", "/a.py", True, "\udcff")])


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\0" * 100])
def test_a_damaged_file_is_read_anew_and_replaced(source: Path, content: bytes):
    cache = source / "cache"
    fresh = read(source, cache)
    [kept] = cache.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(content or whole[:-10])
    assert load(cache, kept.stem) is None
    assert read(source, cache) == fresh
    assert load(cache, kept.stem) == fresh


def test_a_folder_that_others_may_write_to_is_not_used(source: Path):
    cache = source / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    program = read(source, cache)
    assert not list(cache.iterdir())
    save(cache, "key", program)
    assert load(cache, "key") is None


def test_a_folder_that_is_made_is_its_owners_alone(source: Path):
    cache = source / "deep" / "cache"
    read(source, cache)
    assert cache.stat().st_mode & 0o077 == 0


def test_what_cannot_be_kept_is_read_all_the_same(source: Path):
    (source / "cache").write_text("a file")
    assert read(source, source / "cache").sites


def test_the_oldest_go_if_there_are_too_many(source: Path, monkeypatch: pytest.MonkeyPatch):
    cache = source / "cache"
    program = read(source, cache)
    [kept] = cache.iterdir()
    monkeypatch.setattr(kept_programs, "MOST_BYTES", 2 * kept.stat().st_size)
    os.utime(kept, (1, 1))
    for key in ("one", "two"):
        save(cache, key, program)
    assert {path.stem for path in cache.iterdir()} == {"one", "two"}
