import os
from pathlib import Path

import pytest

from cutset.config.workload_command import absolute_words, find_program, is_path, split_command
from cutset.errors import UsageError


def test_words_that_name_files_of_the_folder_become_absolute(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    for name in ("work.py", "a.ini", "tests/test_a.py"):
        (tmp_path / name).touch()
    words = [
        "python",
        "-u",
        "work.py",
        "--config=a.ini",
        "tests",
        "tests/test_a.py::test_b",
        "absent.py",
        "-c",
        "x" * 999,
    ]

    assert absolute_words(words, tmp_path) == [
        "python",
        "-u",
        f"{tmp_path}/work.py",
        f"--config={tmp_path}/a.ini",
        f"{tmp_path}/tests",
        f"{tmp_path}/tests/test_a.py::test_b",
        "absent.py",
        "-c",
        "x" * 999,
    ]


@pytest.mark.parametrize("name", ["no-such-program", "./no-such-program"])
def test_a_program_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=f"The workload does not start: `{name}` is"):
        find_program(name, os.environ, tmp_path)


@pytest.mark.parametrize(("text", "message"), [("python 'x", "No closing quotation"), (" ", "is empty")])
def test_a_command_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        split_command(text)


def test_what_is_no_path_is_the_name_of_a_package_or_class() -> None:
    assert all(map(is_path, ["./shop", "lib/shop", "tool.py", "shop.jar", ".", ".."]))
    assert not any(map(is_path, ["shop", "org.shop", "org.shop.Main"]))
