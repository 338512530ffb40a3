from pathlib import Path

import pytest

from cutset.errors import CutsetError, UsageError
from cutset.traces.span_file import SpanFile


def test_lines_are_appended_behind_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text("{torn")
    with SpanFile(path, 100, list) as file:
        file.append("{}")
        file.append("[]")
    assert path.read_text() == "{torn\n{}\n[]\n"


def test_a_line_that_does_not_fit_ends_it_and_leaves_nothing(tmp_path: Path) -> None:
    path, ended = tmp_path / "spans.jsonl", list[bool]()
    with SpanFile(path, 5, lambda: ended.append(True)) as file:
        file.append("{}")
        with pytest.raises(CutsetError, match="is full"):
            file.append("[{}]")
        assert (file.full, file.problem, ended) == (True, None, [True])
    assert path.read_text() == "{}\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_disk_that_is_full_ends_it_with_the_problem() -> None:
    ended = list[bool]()
    with SpanFile(Path("/dev/full"), 5, lambda: ended.append(True)) as file:
        with pytest.raises(CutsetError, match="No space left on device"):
            file.append("{}")
        assert file.problem is not None
        assert (file.full, ended) == (False, [True])


def test_what_cannot_be_opened_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Cannot write to"):
        SpanFile(tmp_path / "absent" / "spans.jsonl", 5, list)
