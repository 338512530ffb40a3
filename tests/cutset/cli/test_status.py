import json

from tests.samples.small_api_server import SmallApiServer
from typer.testing import CliRunner

from cutset.cli.main import app


def test_nothing_is_installed_at_first(server: SmallApiServer) -> None:
    result = CliRunner().invoke(app, ["status"])
    assert result.exit_code == 0
    assert result.stdout == "No environment is installed\nCollector: absent; MeshConfig does not name it\n"


def test_what_is_installed_is_shown_with_its_state(server: SmallApiServer) -> None:
    CliRunner().invoke(app, ["install", "-n", "shop", "--no-wait"])
    result = CliRunner().invoke(app, ["status", "-n", "shop"])
    assert result.exit_code == 0
    assert "shop in shop\n" in result.stdout
    assert "= EnvoyFilter shop/cutset-shop" in result.stdout
    document = json.loads(CliRunner().invoke(app, ["status", "--json"]).stdout)
    assert document["current"]


def test_what_is_missing_makes_it_exit_with_1(server: SmallApiServer) -> None:
    CliRunner().invoke(app, ["install", "-n", "shop", "--no-wait"])
    del server.stored[next(path for path in server.stored if "telemetries" in path)]
    result = CliRunner().invoke(app, ["status"])
    assert result.exit_code == 1
    assert "x Telemetry shop/cutset-shop missing" in result.stdout
