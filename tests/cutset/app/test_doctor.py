"""What comes before anything is sent; a real mesh is in `experiment/test_preflight.py`."""

import asyncio
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from cutset.app.doctor import examine, exit_code
from cutset.config.explore import Config, load_config
from cutset.errors import UsageError
from cutset.model.checkup import Checkup, CheckupLine, wrong

KEY = b"a key for tests, of 32 bytes or more"
CONFIG = """
target: {url: http://127.0.0.1:9}
collector: {http_port: 0, grpc_port: 0}
requests: [{path: /}]
"""
MESH = "services:\n  web: {protocol: http, replicas: ['127.0.0.1:8']}\n"


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "cutset.yaml").write_text(CONFIG)
    return load_config(tmp_path / "cutset.yaml")


def wrong_checks(config: Config, mesh_file: Path | None = None) -> list[CheckupLine]:
    found = asyncio.run(examine(config, key=lambda: KEY, mesh_file=mesh_file))
    assert exit_code(found) == 1
    return list(found.wrong)


def test_nothing_listening_is_told_at_once(config: Config) -> None:
    (check,) = wrong_checks(config)

    assert (check.name, check.text) == ("servers", "the entry at 127.0.0.1:9 does not accept connections")


def test_a_busy_port_is_told_with_what_the_configuration_calls_it(config: Config) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (check,) = wrong_checks(replace(config, collector=replace(config.collector, grpc_port=port)))

    assert (check.name, check.text) == ("collector", f"Cannot receive traces on `127.0.0.1:{port}`: the port is in use")
    assert "`collector.host`, `.http_port`, `.grpc_port`" in check.remedy


def test_a_mesh_that_does_not_run_from_the_file_is_told(config: Config, tmp_path: Path) -> None:
    (tmp_path / "mesh.yaml").write_text(MESH)
    (tmp_path / "other.yaml").write_text(MESH)

    beside, named = wrong_checks(config), wrong_checks(config, tmp_path / "other.yaml")

    assert [check.text for check in beside][-1] == f"no mesh runs from `{tmp_path / 'mesh.yaml'}`"
    assert [check.text for check in named][-1] == f"no mesh runs from `{tmp_path / 'other.yaml'}`"
    assert beside[0].text == "the entry at 127.0.0.1:9 does not accept connections"


def test_a_missing_key_is_told_like_everything_else(config: Config) -> None:
    def missing() -> bytes:
        raise UsageError("not set", hint="set it")

    found = asyncio.run(examine(config, key=missing))

    assert found.checks == (wrong("key", "not set", "set it", fatal=True),)


def test_all_is_well_when_nothing_is_wrong() -> None:
    assert exit_code(Checkup((), 5.0)) == 0
