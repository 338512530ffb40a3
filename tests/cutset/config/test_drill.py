from pathlib import Path

import pytest
import yaml

from cutset.config.drill import adjusted, load_drill
from cutset.config.explore import load_config
from cutset.drill.settings import Pace
from cutset.errors import UsageError


def configured(folder: Path, **section: object) -> Path:
    path = folder / "cutset.yaml"
    path.write_text(yaml.safe_dump({"drill": {"command": ["serve", "{port}"], **section}}))
    return path


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


def test_a_service_that_is_not_told_its_port_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"`drill`: neither `command` nor `env` has `\{port\}` in it"):
        load_drill(configured(tmp_path, command=["serve", "--port", "8080"]))

    assert load_drill(configured(tmp_path, command=["serve"], env={"PORT": "{port}"})).service.env["PORT"] == "{port}"


def test_what_the_command_line_says_wins_over_the_file(tmp_path: Path) -> None:
    settings = load_drill(configured(tmp_path, faults=["loading"], seed=7))

    assert settings.path == tmp_path / "cutset.yaml"
    assert adjusted(settings) == settings
    changed = adjusted(settings, recording=tmp_path, only=["db/"], faults=["timeout"], seed=0)
    assert changed.recording == tmp_path
    assert (changed.selection.only, changed.selection.faults, changed.selection.seed) == (("db/",), ("timeout",), 0)
