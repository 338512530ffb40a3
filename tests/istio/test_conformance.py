"""The same promises as on the local mesh (tests/conformance), kept in a cluster with a real Istio."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from cluster.processes import Place
from tests.conformance.laboratory import PROMISES, Promise, Specimen
from tests.istio import habits
from tests.istio.commands import configured, cutset
from tests.istio.conftest import Laboratory

from cluster import shops
from cutset.app.explore import open_laboratory
from cutset.config.explore import load_config, plan_key
from cutset.model.point import Point
from cutset.model.request import Request, Step

PATIENCE = 300  # seconds for a promise: Istio's sidecars hold spans back for 5 s
HABITS = ("tolerant", "redundant", "forgetful", "varying", "broken")
STORE = f"/apis/apps/v1/namespaces/{habits.NAMESPACE}/deployments/store/scale"


@pytest.fixture(scope="module")
def run() -> Iterator[Any]:
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="module")
def specimen(laboratory: Laboratory, run: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Specimen]:
    folder = tmp_path_factory.mktemp("conformance")
    place = Place(Path(os.environ["CLUSTER_BIN"]), laboratory.run)
    laboratory.api.apply(*habits.resources())
    shops.wait_until_available(place, laboratory.api)
    # Calls without the context of a request are told only where all requests are traced.
    done = cutset(folder, "install", "--namespace", habits.NAMESPACE, "--trace-all")
    assert done.returncode == 0, done.stderr
    gateway = {"namespaces": [habits.NAMESPACE], "gateway": f"{shops.GATEWAYS}/{habits.NAMESPACE}"}
    config = load_config(configured(folder, laboratory, istio=gateway, requests=[{"path": "/tolerant"}]))
    stack = AsyncExitStack()

    async def scale(replicas: int) -> None:
        kind = "application/merge-patch+json"
        await asyncio.to_thread(laboratory.api.call, "PATCH", STORE, {"spec": {"replicas": replicas}}, kind)

    async def kill() -> None:
        await scale(0)

    async def revive() -> None:
        await scale(1)

    try:
        key = plan_key(config, {"XDG_CONFIG_HOME": str(folder)})
        yield Specimen(
            laboratory=run(stack.enter_async_context(open_laboratory(config, key))),
            **{name: Request(name, Step("GET", f"/{name}")) for name in HABITS},
            **{
                name: Point("store", f"GET /{name}")
                for name in ("needed", "optional", "primary", "backup", "unreached", "sometimes", "absent")
            },
            kill=kill,
            revive=revive,
        )
    finally:
        run(stack.aclose())
        cutset(folder, "uninstall", "--namespace", habits.NAMESPACE)
        laboratory.api.call("DELETE", f"/api/v1/namespaces/{habits.NAMESPACE}")
        for kind in ("apis/apps/v1/namespaces/{}/deployments/{}", "api/v1/namespaces/{}/services/{}"):
            laboratory.api.call("DELETE", "/" + kind.format(shops.GATEWAYS, habits.NAMESPACE))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_a_laboratory_in_istio_keeps_its_promises(promise: Promise, run: Any, specimen: Specimen) -> None:
    run(asyncio.wait_for(promise(specimen), timeout=PATIENCE))
