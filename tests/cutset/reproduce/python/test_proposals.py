from pathlib import Path

import pytest

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.python.proposals import proposed_sources


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in ("shop/__init__.py", "bank.py", "lib/site-packages/wire/__init__.py", "lib/site-packages/cache.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    (tmp_path / "workload.py").write_text("import json, bank, cache\n\ndef run():\n    from shop.orders import pay\n")
    return tmp_path


def named(folder: Path, *records: LogRecord, modules: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    paths = [str(folder), str(folder / "lib/site-packages")]
    found = proposed_sources(records, [str(folder / "workload.py")], modules, paths)
    return [(each.name, each.why) for each in found]


def test_what_the_workload_imports_and_the_log_names_comes_first(folder: Path) -> None:
    record = LogRecord(1, "", "shop.orders", "ERROR", "lost")

    assert named(folder, record, record) == [
        ("shop", "the workload imports it; the failure log names it in 2 entries"),
        ("bank", "the workload imports it"),
    ]


def test_what_is_installed_is_proposed_if_a_traceback_goes_through_it_and_comes_last(folder: Path) -> None:
    frame = '  File "/usr/lib/python3/site-packages/wire/client.py", line 3, in send'
    found = named(folder, LogRecord(1, "", "root", "ERROR", "lost", (frame,)))

    assert [name for name, _ in found] == ["bank", "shop", "wire"]


def test_a_module_that_the_command_names_is_one(folder: Path) -> None:
    (folder / "worker.py").write_text("")

    assert named(folder, modules=("worker",))[0] == ("worker", "the workload imports it")


def test_a_script_that_is_no_python_has_no_imports(folder: Path) -> None:
    (folder / "workload.py").write_text("import (")

    assert named(folder) == []
