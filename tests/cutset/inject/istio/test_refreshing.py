"""Against a small API server; that no replica is ejected is seen in tests/istio."""

import asyncio
from typing import Any

import pytest
from tests.samples.installations import installation
from tests.samples.small_api_server import SmallApiServer

from cutset.inject.istio.install import install, prepare
from cutset.inject.istio.refreshing import refresh_outliers
from cutset.kubernetes.client import connected

PATCHES = "/apis/networking.istio.io/v1alpha3/namespaces/shop/envoyfilters/cutset-shop-outliers"


def rule(**policy: Any) -> dict[str, Any]:
    metadata = {"name": "front", "namespace": "shop"}
    spec = {"host": "frontend", "trafficPolicy": policy}
    return {"apiVersion": "networking.istio.io/v1", "kind": "DestinationRule", "metadata": metadata, "spec": spec}


def refresh() -> None:
    async def run() -> None:
        async with connected() as cluster:
            await refresh_outliers(cluster, "shop", ("shop",))

    asyncio.run(run())


@pytest.fixture
def installed(server: SmallApiServer) -> SmallApiServer:
    async def run() -> None:
        async with connected() as cluster:
            async for _ in install(cluster, await prepare(cluster, installation())):
                pass

    asyncio.run(run())
    return server


def test_patches_come_with_outlier_detection_and_go_with_it(installed: SmallApiServer) -> None:
    installed.put(rule(loadBalancer={"simple": "RANDOM"}))
    before = installed.snapshot()
    installed.put(rule(outlierDetection={"consecutive5xxErrors": 5}))
    refresh()
    assert PATCHES in installed.stored
    versions = installed.versions()
    refresh()
    assert installed.versions() == versions
    installed.put(rule(loadBalancer={"simple": "RANDOM"}))
    refresh()
    assert installed.snapshot() == before


def test_where_nothing_is_installed_nothing_is_done(server: SmallApiServer) -> None:
    server.put(rule(outlierDetection={"consecutive5xxErrors": 5}))
    before = server.versions()
    refresh()
    assert server.versions() == before
