"""What is proven by pods is in tests/istio."""

import asyncio

import pytest
from tests.samples.small_api_server import SmallApiServer

from cutset.app.install import InstallOptions, install_environment
from cutset.app.uninstall import UninstallEnded, UninstallEvent, UninstallOptions, uninstall_environment


def ended(options: UninstallOptions) -> UninstallEnded:
    async def run() -> list[UninstallEvent]:
        return [each async for each in uninstall_environment(options)]

    last = asyncio.run(run())[-1]
    assert isinstance(last, UninstallEnded)
    return last


def install() -> None:
    async def run() -> None:
        async for _ in install_environment(InstallOptions(("shop",), wait=False)):
            pass

    asyncio.run(run())


def test_where_nothing_is_nothing_is_asked(server: SmallApiServer) -> None:
    assert ended(UninstallOptions(("shop",))) == UninstallEnded("shop", None, "there was nothing that obeys plans")


def test_it_leaves_nothing(server: SmallApiServer) -> None:
    before = server.snapshot()
    install()
    assert ended(UninstallOptions(("shop",), wait=False)) == UninstallEnded("shop", None, "`--no-wait`")
    assert server.snapshot() == before


def test_without_the_key_all_goes_and_what_is_unproven_is_said(
    server: SmallApiServer, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = server.snapshot()
    install()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "elsewhere"))
    last = ended(UninstallOptions(("shop",)))
    assert "no private key for the environment `shop`" in last.unasked
    assert server.snapshot() == before
