import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from tests.samples.drill import TEST
from typer.testing import CliRunner

from cutset.cli.drill import exit_code
from cutset.cli.main import app
from cutset.errors import UsageError
from cutset.model.drill import DrillJudgement, DrillResult, DrillVerdict
from cutset.model.exchange import Exchange, Operation
from cutset.workload.recording.folder import open_recording

GET = Exchange(
    id="1",
    service="shop",
    trace_id="",
    started_at=1.0,
    seconds=0.01,
    method="GET",
    path="/products/4711",
    request_headers=(),
    request_body=b"",
    status=200,
    operations=(
        Operation("cache/redis/get", 1, 1.0, 0.001, failed=False),
        Operation("cache/redis/get", 2, 1.1, 0.001, failed=False),
    ),
)


RESULT = DrillResult(TEST, DrillJudgement(DrillVerdict.PASSED, ""))


def recorded(folder: Path, **section: object) -> Path:
    with open_recording(folder / "recording") as recording:
        recording.append([GET])
    path = folder / "cutset.yaml"
    path.write_text(yaml.safe_dump({"drill": {"command": ["serve", "{port}"], **section}}))
    return path


def run(*arguments: object):
    return CliRunner().invoke(app, ["drill", *map(str, arguments)])


def test_the_plan_lists_tests_and_what_was_left_out(tmp_path: Path) -> None:
    config = recorded(tmp_path)

    shown = run("-c", config, "--plan", "--store", tmp_path / "store")
    document = json.loads(run("-c", config, "--plan", "--json", "--store", tmp_path / "store").stdout)

    assert shown.exit_code == 0
    assert "2 tests to run\n  GET /products/*\n" in shown.stdout
    assert [test["fault"] for test in document["tests"]] == ["connection-refused", "no-answer"]
    assert document["left_out"][0]["reason"] == "call 2 is the last one"
    assert not (tmp_path / "store").exists()


def test_faults_and_points_are_chosen_on_the_command_line(tmp_path: Path) -> None:
    arguments = ("-c", recorded(tmp_path), "--plan", "--json", "--store", tmp_path)
    document = json.loads(run(*arguments, "--faults", "loading", "--only", "cache/").stdout)

    assert [test["fault"] for test in document["tests"]] == ["loading"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--plan", "--resume"), "exclude each other"),
        (("--resume",), "no unfinished drill"),
        (("--replay", "12345678"), "There is no test `12345678`"),
        (("--plan", "--faults", "lightning"), "has the fault `lightning`"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    result = run("-c", recorded(tmp_path), "--store", tmp_path / "store", *options)

    assert isinstance(result.exception, UsageError)
    assert message in result.exception.message


def test_what_an_earlier_version_wrote_is_named_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "drills.jsonl").write_text('{"format": 1, "session": "s1", "begun": true}\n')

    shown = run("-c", recorded(tmp_path), "--plan", "--store", tmp_path)

    assert shown.exit_code == 0
    assert "drills.jsonl` is of an earlier version of Cutset and is not read" in shown.stderr


def test_the_exit_code_says_the_worst() -> None:
    def of(*verdicts: DrillVerdict) -> int:
        return exit_code([replace(RESULT, judgement=DrillJudgement(verdict, "")) for verdict in verdicts])

    assert of() == of(DrillVerdict.PASSED) == 0
    assert of(DrillVerdict.PASSED, DrillVerdict.UNKNOWN) == 3
    assert of(DrillVerdict.UNKNOWN, DrillVerdict.FAILED, DrillVerdict.PASSED) == 1
