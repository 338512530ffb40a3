"""Real data stores for the small services, and proxies that stand before them and fail as networks do."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import uvicorn

from cutset_demo.children import configure, start_child, stop_children, wait_until_ready
from cutset_demo.flaws import (
    cache_takes_down,
    doubled_write,
    open_transaction,
    poison_message,
    stale_pool,
    stuck_circuit,
    swallowed_publish,
    unbounded_retry,
    wrong_fallback,
)
from cutset_demo.flaws.dependency import start_dependency
from cutset_demo.flaws.serving import FlawSettings
from cutset_demo.ports import free_port

PATIENCE_SECONDS = 20.0  # for what comes within a fraction of a second, if at all

APPLICATIONS = {
    "swallowed-publish": swallowed_publish.application,
    "stale-pool": stale_pool.application,
    "doubled-write": doubled_write.application,
    "cache-takes-down": cache_takes_down.application,
    "poison-message": poison_message.application,
    "unbounded-retry": unbounded_retry.application,
    "open-transaction": open_transaction.application,
    "wrong-fallback": wrong_fallback.application,
    "stuck-circuit": stuck_circuit.application,
}


@dataclass(frozen=True)
class Stores:
    addresses: Mapping[str, str]  # redis, nats, postgres, dependency -> host:port

    def settings(self, variant: str, **elsewhere: str) -> FlawSettings:
        """What a service needs to know; `elsewhere` puts a proxy's address in the place of a store's."""
        at = {**self.addresses, **elsewhere}
        return FlawSettings(
            broken=variant == "broken",
            redis=f"redis://{at['redis']}/0",
            postgres=f"postgresql://postgres@{at['postgres']}/postgres",
            nats=f"nats://{at['nats']}",
            dependency=f"http://{at['dependency']}",
        )


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    folder: Path = tmp_path_factory.mktemp("stores")
    folder.chmod(0o755)
    addresses = {name: f"127.0.0.1:{free_port()}" for name in ("redis", "nats", "postgres")}
    child = start_child("datastores", "cutset_demo.datastores", folder)
    try:
        configure(child, {"addresses": addresses, "data": str(folder / "data"), "logs": str(folder)})
        wait_until_ready(child, time.monotonic() + 60)
        yield Stores({**addresses, "dependency": start_dependency().removeprefix("http://")})
    finally:
        stop_children([child])


@pytest.fixture
def start(stores: Stores) -> Iterator[Callable[..., httpx.Client]]:
    """Starts a service: `start("stale-pool", "broken", postgres=proxy.address)` gives a client of it."""
    running: list[tuple[uvicorn.Server, threading.Thread, httpx.Client]] = []

    def started(name: str, variant: str, **elsewhere: str) -> httpx.Client:
        application = APPLICATIONS[name](stores.settings(variant, **elsewhere))
        config = uvicorn.Config(application, host="127.0.0.1", port=0, log_config=None, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run)  # a process for each would take longer than all the tests
        thread.start()
        wait_until(lambda: server.started or not thread.is_alive())
        client = _client(server.servers[0].sockets[0].getsockname()[1])
        running.append((server, thread, client))
        return client

    yield started
    for server, _, client in running:
        client.close()
        server.should_exit = True
    for _, thread, _ in running:
        thread.join()


@pytest.fixture
def start_alone(stores: Stores) -> Iterator[Callable[..., tuple[subprocess.Popen[str], httpx.Client]]]:
    """Starts a service as `python -m` does: gives its process and a client of it."""
    with contextlib.ExitStack() as stack:

        def started(name: str, variant: str, **elsewhere: str) -> tuple[subprocess.Popen[str], httpx.Client]:
            return stack.enter_context(_running_alone(name, variant, stores.settings(variant, **elsewhere)))

        yield started


@pytest.fixture
def proxy(stores: Stores) -> Iterator[Callable[[str], "Proxy"]]:
    """Puts a proxy before a store: `proxy("postgres")`."""
    with contextlib.ExitStack() as stack:
        yield lambda store: stack.enter_context(_proxy_to(stores.addresses[store]))


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], None]:
    return wait_until


@contextlib.contextmanager
def _running_alone(
    name: str, variant: str, settings: FlawSettings
) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    port = free_port()
    command = [sys.executable, "-m", "cutset_demo.flaws", name, "--variant", variant, "--port", str(port)]
    command += ["--redis", settings.redis, "--postgres", settings.postgres, "--nats", settings.nats]
    command += ["--dependency", settings.dependency]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            with _client(port) as client:
                yield process, client
        finally:
            process.kill()


def _client(port: int) -> httpx.Client:
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE_SECONDS)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@dataclass
class Proxy:
    """Passes on what comes, until it is told to `cut`, to `be_silent` or to `lose_an_answer`; `heal` ends that."""

    target: str
    listener: socket.socket
    mode: str = "pass"
    open: list[tuple[socket.socket, socket.socket]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.listener.getsockname()[1]}"

    def cut(self) -> None:
        """All connections end, new ones at once."""
        self.mode = "cut"
        self._end_all()

    def be_silent(self) -> None:
        """What is sent goes nowhere, and no answer comes. Connections of this time stay silent for good."""
        self.mode = "silent"

    def lose_an_answer(self) -> None:
        """What is sent arrives; the connection ends in place of the answer. Once."""
        self.mode = "lose"

    def heal(self) -> None:
        self.mode = "pass"

    def _end_all(self) -> None:
        for pair in self.open:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        self.open.clear()

    def serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.mode == "cut":
                client.close()
                continue
            host, port = self.target.split(":")
            server = socket.create_connection((host, int(port)))
            self.open.append((client, server))
            threading.Thread(target=self._pass_on, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(server, client, True), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        silent = False
        with contextlib.suppress(OSError), source:
            while data := source.recv(65536):
                silent = silent or self.mode == "silent"
                if silent:
                    continue
                if is_answer and self.mode == "lose":
                    self.heal()
                    source.shutdown(socket.SHUT_RDWR)
                    break
                sink.sendall(data)
            sink.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def _proxy_to(target: str) -> Iterator[Proxy]:
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        proxy = Proxy(target, listener)
        thread = threading.Thread(target=proxy.serve, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.cut()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
