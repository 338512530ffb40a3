import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from cutset.cli.main import app
from cutset.config.drill import load_drill
from cutset.config.explore import load_config
from cutset.drill.settings import Pace
from cutset.errors import UsageError
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


def configured(folder: Path, **section: object) -> Path:
    path = folder / "cutset.yaml"
    path.write_text(yaml.safe_dump({"drill": {"command": ["serve", "{port}"], **section}}))
    return path


def recorded(folder: Path) -> Path:
    with open_recording(folder / "recording") as recording:
        recording.append([GET])
    return configured(folder)


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


def test_faults_and_endpoints_are_chosen_on_the_command_line(tmp_path: Path) -> None:
    arguments = ("-c", recorded(tmp_path), "--plan", "--json", "--store", tmp_path)
    document = json.loads(run(*arguments, "--faults", "loading", "--only", "cache/").stdout)

    assert [test["fault"] for test in document["tests"]] == ["loading"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--plan", "--resume"), "exclude each other"),
        (("--resume",), "no interrupted session"),
        (("--replay", "12345678"), "There is no test `12345678`"),
        (("--plan", "--faults", "lightning"), "has the fault `lightning`"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    result = run("-c", recorded(tmp_path), "--store", tmp_path / "store", *options)

    assert isinstance(result.exception, UsageError)
    assert message in result.exception.message


def test_settings_are_read_with_their_defaults(tmp_path: Path) -> None:
    settings = load_drill(
        configured(
            tmp_path,
            phases={"fault": 2.5},
            thresholds={"limit_seconds": 3.0},
            classes={"GET /slow": {"latency_factor": 9.0}},
            ready_url="http://127.0.0.1:{port}/health",
            recording="records",
        )
    )

    assert settings.service.command == ("serve", "{port}")
    assert settings.service.folder == tmp_path
    assert settings.recording == tmp_path / "records"
    assert settings.pace == Pace(fault=2.5)
    assert settings.thresholds.limit_seconds == 3.0
    assert settings.classes["GET /slow"].latency_factor == 9.0
    assert settings.classes["GET /slow"].limit_seconds == 3.0


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"phases": {"fault": 0}}, "`drill.phases.fault`: expected seconds above 0"),
        ({"thresholds": {"recovery_succes": 0.5}}, "Did you mean `recovery_success`?"),
        ({"classes": {"GET /": {"limit_seconds": "5"}}}, "`drill.classes.GET /.limit_seconds`: expected a number"),
        ({"ready_url": "{port}"}, "`drill.ready_url`: expected a URL such as `http://127.0.0.1:{port}/health`"),
        ({"thresholds": {"must_survive": ["disk"]}}, "`drill.thresholds.must_survive[0]`: expected `cache`"),
    ],
)
def test_mistakes_in_the_section_are_named(tmp_path: Path, section: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_drill(configured(tmp_path, **section))

    assert message in caught.value.message


def test_a_file_without_the_section_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cutset.yaml"
    path.write_text("requests: []\n")

    with pytest.raises(UsageError, match="has no section `drill`"):
        load_drill(path)


def test_other_commands_do_not_mind_the_section(tmp_path: Path) -> None:
    path = tmp_path / "cutset.yaml"
    document = {"target": {"url": "http://127.0.0.1:1"}, "requests": [{"path": "/"}], "drill": {"command": ["x"]}}
    path.write_text(yaml.safe_dump(document))

    assert load_config(path).target.url == "http://127.0.0.1:1"
