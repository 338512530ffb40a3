"""What can be told without a cluster; the rest is in tests/istio."""

import asyncio

import pytest

from cutset.app.bench import open_bench
from cutset.config.explore import Config
from cutset.errors import UsageError
from cutset.model.cluster import IstioPlace
from cutset.model.request import Request, Step
from cutset.model.target import Target


def test_a_system_in_istio_is_looked_for_with_the_kubeconfig(tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path))
    place = IstioPlace(("shop",), gateway="edge/gateway")
    config = Config(Target(place.gateway_url), (Request("GET /", Step("GET", "/")),), istio=place)

    async def scenario():
        async with open_bench(config, b"k" * 32, None):
            pass

    with pytest.raises(UsageError, match="kubeconfig"):
        asyncio.run(scenario())
