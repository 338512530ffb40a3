"""The stream of spans from the collector in the cluster, and ways in by port-forwards, when pods go away."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.istio.commands import GATEWAY, configured, installed
from tests.istio.conftest import PATIENCE, Laboratory, eventually

from cutset.app.bench import open_bench
from cutset.app.forwarding import entrance_of, relay_of
from cutset.config.explore import load_config, plan_key
from cutset.experiment.trial import attempt
from cutset.kubernetes.client import connected
from cutset.model.cluster import IstioPlace
from cutset.model.fault import BASELINE
from cutset.traces.relay import relayed


@pytest.fixture(scope="module")
def folder(laboratory: Laboratory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("relay")
    configured(folder, laboratory)
    with installed(laboratory, folder):
        yield folder


def delete_pods(laboratory: Laboratory, namespace: str, labels: str) -> None:
    for pod in laboratory.pods(namespace, labels):
        laboratory.api.call("DELETE", f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}")


def answers(laboratory: Laboratory, url: str) -> bool:
    return laboratory.ask(url=url)[0] == 200


def test_another_collector_is_found_and_what_was_missed_meanwhile_is_told(folder: Path, laboratory: Laboratory) -> None:
    async def scenario() -> int:
        async with connected() as cluster, relayed(partial(relay_of, cluster, "cutset")) as collector:
            await collector.up_to_date()
            assert collector.losses == 0
            await asyncio.to_thread(delete_pods, laboratory, "cutset", "app=cutset-collector")
            async with asyncio.timeout(PATIENCE):
                while not collector.losses:
                    await collector.up_to_date()
            return collector.losses

    assert asyncio.run(scenario()) >= 1


def test_experiments_enter_by_another_pod_of_the_gateway(laboratory: Laboratory) -> None:
    async def scenario() -> None:
        place = IstioPlace((laboratory.namespace,), gateway=GATEWAY)
        async with connected() as cluster, entrance_of(cluster, place) as entrance:
            before = entrance.url
            await asyncio.to_thread(eventually, partial(answers, laboratory, before))
            await asyncio.to_thread(delete_pods, laboratory, "istio-ingress", "istio=ingress")
            async with asyncio.timeout(PATIENCE):
                while entrance.url == before:  # noqa: ASYNC110 -- another task does it
                    await asyncio.sleep(0.1)
            await asyncio.to_thread(eventually, partial(answers, laboratory, entrance.url))

    asyncio.run(scenario())


def test_traces_are_whole_and_their_entry_is_known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    config = load_config(folder / "cutset.yaml")

    async def scenario() -> None:
        key = plan_key(config, {"XDG_CONFIG_HOME": str(folder)})
        async with open_bench(config, key, None) as bench:
            for _ in range(3):  # sidecars may still be finding the collector
                trial = await attempt(bench, config.requests[0], BASELINE, catalogue=(), instrumentation=None)
            assert trial.traced
            assert {point.service for point in trial.lineage.path} == {"backend", "quote"}

    asyncio.run(scenario())
