"""A small real shop behind its mesh, for pytest sessions of their own."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from tests.samples.small_shop import EXPORT_SECONDS, HOST, KEY, Shop, open_shop

from cutset.app.demo import free_ports
from cutset.model.target import Receiver

NO_OTHERS = dict.fromkeys(("jaeger_compact_port", "jaeger_binary_port", "jaeger_http_port", "zipkin_port"))
Explore = Callable[..., pytest.RunResult]


@contextmanager
def shop_in_thread(work_dir: Path, receiver: Receiver) -> Iterator[Shop]:
    opened: list[Shop] = []
    ready, loop, ended = threading.Event(), asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        try:
            async with open_shop(work_dir, receiver) as shop:
                opened.append(shop)
                ready.set()
                await ended.wait()
        finally:
            ready.set()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait()
    try:
        yield opened[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


@pytest.fixture(scope="session")
def small_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Shop, Path]]:
    """The shop, and a cutset.yaml without requests."""
    folder = tmp_path_factory.mktemp("shop")
    http_port, grpc_port = free_ports(2)
    receiver = Receiver(http_port=http_port, grpc_port=grpc_port)
    with shop_in_thread(folder / "mesh", receiver) as shop:
        collector = {"host": HOST, "http_port": http_port, "grpc_port": grpc_port, "export_interval": EXPORT_SECONDS}
        content = {
            "target": {"url": f"http://{shop.mesh.addresses['web']}"},
            "collector": collector | NO_OTHERS,
            "limits": {"repeats": 2},
        }
        (folder / "cutset.yaml").write_text(yaml.safe_dump(content))
        yield shop, folder / "cutset.yaml"


@pytest.fixture
def explore(pytester: pytest.Pytester, small_shop: tuple[Shop, Path], monkeypatch: pytest.MonkeyPatch) -> Explore:
    """A pytest session of its own, on these tests: what it printed."""
    monkeypatch.setenv("CUTSET_KEY", KEY.decode())
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(tests: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(test_shop=tests)
        config = f"--cutset-config={small_shop[1]}"
        plugins = ("-p", "cutset_pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
        return pytester.runpytest_subprocess(*plugins, config, *arguments, timeout=120)

    return run
