"""What `forged` makes, against a sidecar alone and behind a gateway: a few of what the benchmark sends."""

import random
from itertools import islice

import httpx
import pytest
from tests.samples.forged_plans import WAYS, Forger, forged
from tests.samples.sidecars import Proxy, run_proxies

from cutset.inject.ecdsa import new_private_key, public_key
from cutset.inject.gateway import gateway_filters, gateway_options
from cutset.inject.sidecar import inbound_filters, inbound_options

FAULTS = ("web/*", "web/*:delay(60000ms)")
ROUNDS = 12  # of each way


@pytest.fixture(scope="module")
def key():
    return new_private_key()


@pytest.fixture(scope="module")
def proxies(lab, key, tmp_path_factory):
    echo = f"127.0.0.1:{lab.servers['solo'][0].server_port}"
    sidecar = Proxy("sidecar", echo, inbound_filters({"w": "web"}, "shop", public_key(key)), inbound_options())
    gateway = Proxy("gateway", "sidecar", gateway_filters("shop", public_key(key)), gateway_options("shop"))
    bare = Proxy("bare", echo, gateway_filters("shop", public_key(key)), gateway_options("shop"))
    folder = tmp_path_factory.mktemp("forgery")
    collector, identity = lab.mesh.spec.collector, {"ISTIO_META_WORKLOAD_NAME": "w"}
    with run_proxies([sidecar, gateway, bare], folder, collector=collector, environ=identity) as running:
        yield running


@pytest.mark.parametrize("way", ["sidecar", "gateway"])
def test_nothing_forged_fires(proxies, key, way):
    before = proxies.statistic("fault.(aborts|delays)_injected")
    with httpx.Client(timeout=20) as client:
        for name, headers in islice(forged(key, "shop", FAULTS, random.Random(5)), ROUNDS * len(WAYS)):
            response = client.get(f"{proxies.urls[way]}/", headers=headers)
            assert response.status_code == 200, (name, headers)
            assert "x-cutset-fault" not in response.headers, (name, headers)
    assert proxies.statistic("fault.(aborts|delays)_injected") == before
    assert proxies.statistic("lua.errors") == 0


def test_a_gateway_lets_nothing_forged_in(proxies, key):
    """A real plan behind a flood goes with it. Who asks the fault filter itself is left to sidecars."""
    with httpx.Client(timeout=20) as client:
        for name, headers in islice(forged(key, "shop", FAULTS, random.Random(6)), ROUNDS * len(WAYS)):
            seen = client.get(f"{proxies.urls['bare']}/", headers=headers).json()["headers"]
            if name != "asked directly":
                assert not [each for each in seen.items() if "cutset" in str(each)], (name, headers)


def test_the_same_plans_unforged_fire(proxies, key):
    """Else the other tests would show nothing."""
    forger = Forger(key, "shop", FAULTS[:1], random.Random(7))
    with httpx.Client() as client:
        for _ in range(20):
            for way in ("sidecar", "gateway"):
                assert client.get(f"{proxies.urls[way]}/", headers=forger.plan()).status_code == 503
