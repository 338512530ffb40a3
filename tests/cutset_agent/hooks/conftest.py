"""Real data stores for the hooks of their clients, and what the agent saw of the calls."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cutset_agent import reports
from cutset_demo import datastores


@pytest.fixture(autouse=True)
def _uncontained(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a drill: what a fault does is what is tested here, also to connections that others might use."""
    monkeypatch.setenv("CUTSET_UNCONTAINED", "1")


@pytest.fixture
def calls(installed: Any) -> Iterator[Callable[[str], list[dict[str, Any]]]]:
    """The reported calls at an endpoint, or at all whose names begin so. Nothing may have gone wrong in the agent."""

    def at(endpoint: str = "") -> list[dict[str, Any]]:
        return [span for span in installed.spans() if "occurrence" in span and span["endpoint"].startswith(endpoint)]

    yield at
    assert reports.flush()  # while there is somebody to receive it; the end of the process would wait for it
    assert not reports.errors


@pytest.fixture(scope="session")
def free_address() -> Callable[[], str]:
    def find() -> str:
        with socket.create_server(("127.0.0.1", 0)) as server:
            return f"127.0.0.1:{server.getsockname()[1]}"

    return find


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory, free_address: Callable[[], str]) -> Iterator[str]:
    """The DSN of a real server with a table `items (id int primary key, name text)`."""
    pytest.importorskip("pgserver")
    folder, address = _open_folder(tmp_path_factory), free_address()
    server = datastores._start_postgres(address, folder / "data", folder)
    try:
        datastores._wait_until_listening(server, address)
        dsn = f"postgresql://postgres@{address}/postgres"
        with _first_connection(dsn) as connection:
            connection.execute("CREATE TABLE items (id int PRIMARY KEY, name text)")
        yield dsn
    finally:
        datastores._stop([server])


@pytest.fixture(scope="session")
def nats_url(tmp_path_factory: pytest.TempPathFactory, free_address: Callable[[], str]) -> Iterator[str]:
    """A real server with JetStream."""
    folder, address = tmp_path_factory.mktemp("nats"), free_address()
    program = datastores.shutil.which("nats-server", path=datastores.sysconfig.get_path("scripts"))
    command = [program, "--addr", "127.0.0.1", "--port", address.split(":")[1], "-js", "-sd", str(folder)]
    server = datastores._start("nats", command, folder, datastores.signal.SIGTERM)
    try:
        datastores._wait_until_listening(server, address)
        yield f"nats://{address}"
    finally:
        datastores._stop([server])


def _open_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("postgres")
    for each in (folder, *folder.parents[:2]):  # PostgreSQL is not root, where the tests are
        each.chmod(0o755)
    return folder


def _first_connection(dsn: str) -> psycopg.Connection:
    deadline = time.monotonic() + 30
    while True:
        try:
            return psycopg.connect(dsn, autocommit=True)
        except psycopg.OperationalError:  # it listens before it lets anyone in
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
