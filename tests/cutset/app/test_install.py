"""What comes before a cluster is asked; the rest is in tests/cutset/inject/istio and tests/istio."""

import asyncio
from pathlib import Path, PurePosixPath
from stat import S_IMODE

import pytest
from tests.samples.small_api_server import SmallApiServer

from cutset.app.install import (
    InstallEnded,
    InstallEvent,
    InstallOptions,
    InstallStarted,
    install_environment,
    planned_chart,
    planned_manifests,
    write_chart,
)
from cutset.errors import UsageError


def events(options: InstallOptions) -> list[InstallEvent]:
    async def run() -> list[InstallEvent]:
        return [each async for each in install_environment(options)]

    return asyncio.run(run())


def test_a_key_is_made_once_for_its_owner_alone(server: SmallApiServer, tmp_path: Path) -> None:
    options = InstallOptions(("shop",), wait=False)
    first = events(options)[0]
    file = tmp_path / "config/cutset/keys/shop.pem"
    assert S_IMODE(file.stat().st_mode) == 0o600
    second = events(options)[0]
    assert isinstance(first, InstallStarted)
    assert isinstance(second, InstallStarted)
    assert first.wanted.public_key == second.wanted.public_key


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (InstallOptions(("shop",), wait=False), "`--no-wait`"),
        (InstallOptions(("shop",), dry_run=True), "nothing was changed"),
        (InstallOptions(("shop",), keep_tracing=True), "no collector of ours"),
    ],
)
def test_pods_that_are_not_asked_are_not_called_ready(
    server: SmallApiServer, options: InstallOptions, why: str
) -> None:
    ended = events(options)[-1]
    assert isinstance(ended, InstallEnded)
    assert ended.probed is None
    assert why in ended.unasked


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("otel.obs:4317", "otel.obs.svc.cluster.local:4317"),
        ("otel:4317", "otel.shop.svc.cluster.local:4317"),
        ("otel.obs.svc.cluster.local:1", "otel.obs.svc.cluster.local:1"),
    ],
)
def test_another_collector_is_named_in_full(server: SmallApiServer, given: str, meant: str) -> None:
    started = events(InstallOptions(("shop",), collector=given, wait=False))[0]
    assert isinstance(started, InstallStarted)
    assert started.wanted.collector == meant


def test_names_that_cannot_be_are_refused(server: SmallApiServer) -> None:
    with pytest.raises(UsageError, match="`Shop!` cannot be the name of an environment"):
        events(InstallOptions(("shop",), environment="Shop!"))
    with pytest.raises(UsageError, match="--collector"):
        events(InstallOptions(("shop",), collector="nowhere"))


def test_files_are_the_same_as_what_is_applied_and_change_nothing(server: SmallApiServer, tmp_path: Path) -> None:
    before = server.versions()
    options = InstallOptions(("shop",))
    text = asyncio.run(planned_manifests(options))
    assert "kind: EnvoyFilter" in text
    files = asyncio.run(planned_chart(options))
    written = write_chart(files, tmp_path / "chart")
    assert tmp_path / "chart/Chart.yaml" in written
    assert PurePosixPath("templates/envoyfilter-shop-cutset-shop.yaml") in files
    with pytest.raises(UsageError, match="is not empty"):
        write_chart(files, tmp_path / "chart")
    assert server.versions() == before
