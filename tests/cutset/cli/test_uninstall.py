import json

from tests.samples.small_api_server import SmallApiServer
from typer.testing import CliRunner

from cutset.cli.main import app


def test_what_goes_is_told(server: SmallApiServer) -> None:
    CliRunner().invoke(app, ["install", "-n", "shop", "--no-wait"])
    result = CliRunner().invoke(app, ["uninstall", "-n", "shop", "--no-wait"])
    assert result.exit_code == 0
    assert "- EnvoyFilter shop/cutset-shop" in result.stderr
    assert "Removed environment shop: 8 resources" in result.stdout


def test_where_nothing_is_that_is_said(server: SmallApiServer) -> None:
    result = CliRunner().invoke(app, ["uninstall", "-n", "shop"])
    assert result.stdout == "Nothing of environment shop was installed\n"
    document = json.loads(CliRunner().invoke(app, ["uninstall", "-n", "shop", "--json"]).stdout)
    assert document["resources"] == []
