"""What it does is in tests/cutset/receive/test_tunnel.py."""

import signal
import subprocess
import sys

from typer.testing import CliRunner

from cutset.cli.main import app


def test_it_serves_until_it_is_told_to_end() -> None:
    command = [sys.executable, "-m", "cutset", "tunnel", "--port", "0", "--private-port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Handing on what connects to port ")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_the_help_is_for_users_and_does_not_show_it() -> None:
    assert "tunnel" not in CliRunner().invoke(app, ["--help"]).stdout
    assert "port-forward" in CliRunner().invoke(app, ["tunnel", "--help"]).stdout
