import sys
import threading
from pathlib import Path

from cutset.reproduce.python.source_text import deep_recursion, parse, read_text
from cutset.reproduce.python.syntax import Skipped


def test_a_file_is_read_as_its_coding_says(tmp_path: Path):
    path = tmp_path / "old.py"
    path.write_bytes("# coding: latin-1\nname = 'grün'\n".encode("latin-1"))
    skipped: list[Skipped] = []
    assert "grün" in (read_text(path, skipped) or "")
    assert skipped == []


def test_what_cannot_be_read_or_parsed_is_skipped_with_the_reason(tmp_path: Path):
    skipped: list[Skipped] = []
    assert read_text(tmp_path / "gone.py", skipped) is None
    (tmp_path / "bytes.py").write_bytes(b"x = '\xff'\n")
    assert read_text(tmp_path / "bytes.py", skipped) is None
    assert parse("def f(:\n", tmp_path / "broken.py", skipped) is None
    assert parse("x = '\0'", tmp_path / "null.py", skipped) is None
    assert [Path(one.path).name for one in skipped] == ["gone.py", "bytes.py", "broken.py", "null.py"]
    assert skipped[0].reason.startswith("FileNotFoundError: ")


def test_warnings_about_other_peoples_code_are_not_ours(tmp_path: Path):
    assert parse(r"x = '\d'", tmp_path / "escape.py", []) is not None


def test_the_limit_of_recursion_is_raised_for_one_at_a_time_and_put_back():
    before = sys.getrecursionlimit()
    inside = threading.Event()

    def other() -> None:
        with deep_recursion():
            inside.set()

    with deep_recursion():
        assert sys.getrecursionlimit() >= 30_000
        thread = threading.Thread(target=other)
        thread.start()
        assert not inside.wait(0.05)
    thread.join(10)
    assert inside.is_set()
    assert sys.getrecursionlimit() == before
