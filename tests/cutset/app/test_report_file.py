import stat
from pathlib import Path

import pytest

from cutset.app.report_file import write_report
from cutset.errors import TargetError


def test_a_report_is_written_with_the_folders_that_it_takes(tmp_path: Path) -> None:
    write_report(tmp_path / "a/b/report.html", "first")
    write_report(tmp_path / "a/b/report.html", "é")

    assert (tmp_path / "a/b/report.html").read_text(encoding="utf-8") == "é"


def test_a_private_one_is_for_its_owner_alone(tmp_path: Path) -> None:
    write_report(tmp_path / "report.md", "text", private=True)

    assert stat.S_IMODE((tmp_path / "report.md").stat().st_mode) == 0o600


def test_where_it_cannot_be_written_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="Cannot write") as caught:
        write_report(tmp_path, "text", hint="Do this")
    assert caught.value.hint == "Do this"
