import importlib.util
import os
import shutil
import socket
import time
from pathlib import Path

import psycopg
import pytest
import redis

from cutset_demo import datastores
from cutset_demo.catalogue import PRODUCTS
from cutset_demo.children import configure, start_child, stop_children, wait_until_ready
from cutset_demo.shop import DATASTORES, free_addresses

SECONDS = 60


@pytest.fixture
def addresses():
    return {name: places[0] for name, places in zip(DATASTORES, free_addresses(1).values(), strict=False)}


def is_listening(address):
    host, port = address.split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def test_three_servers_are_there_when_it_is_ready_and_gone_with_their_data_when_it_ends(tmp_path, addresses):
    tmp_path.chmod(0o755)
    data = tmp_path / "data"
    child = start_child("datastores", "cutset_demo.datastores", tmp_path)
    try:
        configure(child, {"addresses": addresses, "data": str(data), "logs": str(tmp_path)})
        wait_until_ready(child, time.monotonic() + SECONDS)
        with psycopg.connect(f"postgresql://postgres@{addresses['postgres']}/postgres") as connection:
            rows = connection.execute("SELECT count(*) FROM products").fetchone()
        with redis.Redis.from_url(f"redis://{addresses['redis']}/0") as client:
            assert client.ping()
        assert all(is_listening(address) for address in addresses.values())
    finally:
        stop_children([child])

    assert rows == (len(PRODUCTS),)
    assert not any(is_listening(address) for address in addresses.values())
    assert not data.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may enter its home folder, and must give up being root")
def test_postgres_runs_from_a_folder_that_only_root_may_enter(tmp_path, monkeypatch):
    home = tmp_path / "home"
    installed = Path(importlib.util.find_spec("pgserver").origin).parent
    for folder in (installed, *installed.parent.glob("pgserver.libs")):
        shutil.copytree(folder, home / folder.name)
    home.chmod(0o700)
    monkeypatch.setattr(datastores, "_program", lambda package, path: str(home / package / path))
    (address, *_), *_ = free_addresses(1).values()

    server = datastores._start_postgres(address, tmp_path / "data", tmp_path)
    try:
        datastores._wait_until_listening(server, address)
    finally:
        datastores._stop([server])
