import json

import pytest
import yaml
from tests.samples.small_api_server import SmallApiServer
from typer.testing import CliRunner

from cutset.cli.main import app
from cutset.errors import UsageError


def test_what_is_done_is_told_line_by_line(server: SmallApiServer) -> None:
    result = CliRunner().invoke(app, ["install", "-n", "shop", "--no-wait"])
    assert result.exit_code == 0
    assert "+ EnvoyFilter shop/cutset-shop" in result.stderr
    assert "~ ConfigMap istio-system/istio" in result.stderr
    assert result.stdout == "Installed environment shop. Pods were not asked whether they obey: `--no-wait`\n"


def test_a_machine_gets_one_document(server: SmallApiServer) -> None:
    result = CliRunner().invoke(app, ["install", "-n", "shop", "--no-wait", "--json"])
    document = json.loads(result.stdout)
    assert document["environment"] == "shop"
    assert {"resource": "EnvoyFilter shop/cutset-shop", "change": "created"} in document["resources"]
    assert document["proven"] is None
    assert result.stderr == ""


def test_manifests_and_charts_are_written_instead(server: SmallApiServer, tmp_path) -> None:
    before = server.versions()
    printed = CliRunner().invoke(app, ["install", "-n", "shop", "--print"]).stdout
    assert "EnvoyFilter" in {each["kind"] for each in yaml.safe_load_all(printed)}
    result = CliRunner().invoke(app, ["install", "-n", "shop", "--print", "--helm", str(tmp_path / "chart")])
    assert str(tmp_path / "chart/Chart.yaml") in result.stdout
    assert server.versions() == before


def test_a_chart_is_only_written() -> None:
    result = CliRunner().invoke(app, ["install", "-n", "shop", "--helm", "chart"])
    assert isinstance(result.exception, UsageError)
    assert result.exception.hint == "Add `--print`"


@pytest.mark.parametrize("option", ["--namespace", "--keep-tracing", "--dry-run", "--force-meshconfig", "--strip-all"])
def test_its_help_tells_all_options(option: str) -> None:
    assert option in CliRunner().invoke(app, ["install", "--help"], env={"COLUMNS": "120"}).output
