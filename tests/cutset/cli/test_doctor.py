import json
from pathlib import Path

from typer.testing import CliRunner

from cutset.cli.main import app

CONFIG = "target: {url: http://127.0.0.1:9}\ncollector: {http_port: 0, grpc_port: 0}\nrequests: [{path: /}]\n"
ENVIRONMENT = {"CUTSET_KEY": "a key for tests, of 32 bytes or more"}


def test_it_says_what_is_wrong_and_what_to_do_and_exits_with_one(tmp_path: Path) -> None:
    (tmp_path / "cutset.yaml").write_text(CONFIG)
    arguments = ["doctor", "-c", str(tmp_path / "cutset.yaml")]

    text = CliRunner().invoke(app, arguments, env=ENVIRONMENT)
    document = CliRunner().invoke(app, [*arguments, "--json"], env=ENVIRONMENT)

    assert (text.exit_code, document.exit_code) == (1, 1)
    assert text.stdout.splitlines() == [
        "x servers  the entry at 127.0.0.1:9 does not accept connections",
        "           Start the mesh with `cutset mesh up`, or correct `target.url`",
        "1 thing wrong",
    ]
    assert json.loads(document.stdout)["checks"][0]["name"] == "servers"


def test_a_key_that_is_not_set_is_one_of_the_things_that_can_be_wrong(tmp_path: Path) -> None:
    (tmp_path / "cutset.yaml").write_text(CONFIG)

    result = CliRunner().invoke(app, ["doctor", "-c", str(tmp_path / "cutset.yaml")], env={"CUTSET_KEY": ""})

    assert result.exit_code == 1
    assert "x key  The environment variable `CUTSET_KEY` is not set" in result.stdout
