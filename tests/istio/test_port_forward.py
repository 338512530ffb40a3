"""Real clients forward ports into pods and read logs through the real API server: the kubelet part of it is ours."""

import asyncio
from typing import Any

import aiohttp
import pytest
from tests.istio.conftest import Laboratory

from cutset.kubernetes.client import connected


@pytest.fixture
def pod(laboratory: Laboratory) -> str:
    name: str = laboratory.pods(laboratory.namespace, "app=frontend")[0]["metadata"]["name"]
    return name


def test_a_port_of_a_pod_is_reached_past_its_sidecar_by_many_at_once(laboratory: Laboratory, pod: str) -> None:
    async def ask() -> list[dict[str, Any]]:
        async with (
            connected() as cluster,
            cluster.forwarded(pod, laboratory.namespace, 8080) as port,
            aiohttp.ClientSession() as session,
        ):

            async def one() -> dict[str, Any]:
                async with session.get(f"http://127.0.0.1:{port}/") as answer:
                    assert answer.status == 200
                    found: dict[str, Any] = await answer.json()
                    return found

            return await asyncio.gather(*(one() for _ in range(20)))

    answers = asyncio.run(ask())
    assert {answer["service"] for answer in answers} == {pod}
    assert not any("x-forwarded-client-cert" in answer["saw"] for answer in answers)  # no sidecar was in between


def test_a_port_on_which_nothing_listens_is_closed(laboratory: Laboratory, pod: str) -> None:
    async def ask() -> None:
        async with (
            connected() as cluster,
            cluster.forwarded(pod, laboratory.namespace, 9) as port,
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{port}/") as answer,
        ):
            await answer.read()

    with pytest.raises(aiohttp.ClientError):
        asyncio.run(ask())


def test_logs_of_a_container_are_read_by_the_api_server(laboratory: Laboratory, pod: str) -> None:
    path = f"/api/v1/namespaces/{laboratory.namespace}/pods/{pod}/log?container=istio-proxy"
    whole = laboratory.api.get(path)
    assert "Envoy proxy is ready" in whole
    last = laboratory.api.get(f"{path}&tailLines=2")
    assert whole.rstrip().endswith(last.rstrip())
    assert last.count("\n") == 2
