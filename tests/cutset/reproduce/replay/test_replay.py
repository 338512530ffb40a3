"""A replay of a language that is not Python; that of Python programs is in `python/test_replay.py`."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.samples.toy_language import ToyFrontEnd, toy_case

from cutset.reproduce.replay.replay import run_replay

LINES = {"fetch": 1, "store": 2, "check": 3}


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["replay.py", "--json"])


def replay(folder: Path, *faults: tuple[str, int], oracle: str = "log:lost") -> int:
    rows = [{"effect": "fail()", "occurrence": occurrence, "site": site_row(name)} for name, occurrence in faults]
    command = toy_case(folder).workload.command
    workload = {"command": command, "cwd": None, "env": {}, "timeout_s": 20}
    return run_replay(ToyFrontEnd(), rows, workload, oracle)


def site_row(name: str) -> dict[str, Any]:
    row = {"module": "toy", "function": "main", "expression": name, "ordinal": 0, "kind": "call"}
    return {**row, "path": "program.toy", "line": LINES[name]}


def outcome(capsysbinary: pytest.CaptureFixture[bytes]) -> dict[str, Any]:
    return dict(json.loads(capsysbinary.readouterr().out))


def test_the_failure_is_there(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert replay(tmp_path, ("store", 3)) == 1
    told = outcome(capsysbinary)
    assert (told["answer"], told["faults"][0]["fired"]) == ("yes", True)
    assert told["faults"][0]["what"] == "fired at toy:1 in main, thread MainThread"
    assert told["summary"].startswith("The failure is there.\n  reason   run.log:9: ")
    assert (told["kept"], told["logs"]) == ("", [])
    assert not list(tmp_path.glob("cutset-*"))


def test_the_run_is_kept_if_it_is_asked_for(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["replay.py", "--json", "--keep"])
    assert replay(tmp_path, ("store", 3)) == 1
    told = outcome(capsysbinary)
    assert Path(told["logs"][0]).is_relative_to(told["kept"])
    assert f"  kept     {told['kept']}\n" in told["summary"]
    assert Path(told["logs"][0]).exists()


def test_several_faults_are_replayed_each_on_its_own(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert replay(tmp_path, ("fetch", 1), ("check", 2), ("store", 3)) == 1
    assert [fault["fired"] for fault in outcome(capsysbinary)["faults"]] == [True, True, True]


def test_what_does_not_occur_is_told_with_how_often_its_site_was_visited(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert replay(tmp_path, ("store", 99)) == 3
    told = outcome(capsysbinary)
    assert told["reason"] == f"nothing was tested: the fault {told['faults'][0]['what']}"
    assert told["faults"][0]["what"] == "did not fire: its site, program.toy:2, was visited 5 times"
    assert told["logs"] == []
    assert not list(tmp_path.glob("cutset-replay-*"))


def test_what_goes_wrong_cannot_tell(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert replay(tmp_path, ("store", 3), oracle="nonsense") == 3
    assert "expected a check" in outcome(capsysbinary)["reason"]
