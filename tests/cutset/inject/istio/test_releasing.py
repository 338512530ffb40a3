import asyncio

import pytest
from tests.samples.cluster_resources import resource
from tests.samples.small_api_server import SmallApiServer

from cutset.inject.istio.releasing import collector_gone, providers_in, providers_of, release_shared
from cutset.kubernetes.client import ForbiddenError, connected


def test_who_may_not_look_for_other_environments_leaves_what_they_share(server: SmallApiServer) -> None:
    server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cutset"}})
    server.forbidden.add("list telemetries")

    async def run() -> None:
        async with connected() as cluster:
            async for _ in release_shared(cluster, ()):
                pass

    with pytest.raises(ForbiddenError):
        asyncio.run(run())
    assert "/api/v1/namespaces/cutset" in server.stored


def test_a_namespace_that_is_not_ours_stays(server: SmallApiServer) -> None:
    server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cutset"}})

    async def run() -> list[object]:
        async with connected() as cluster:
            assert await collector_gone(cluster)  # since nobody is removing it
            return [each async for each in release_shared(cluster, ())]

    assert asyncio.run(run()) == []


def test_providers_are_read_from_what_names_them() -> None:
    spec = {"tracing": [{"providers": [{"name": "cutset"}]}, {"providers": None}]}
    assert providers_of(resource("Telemetry", "x", spec)) == {"cutset"}
    assert providers_of(resource("EnvoyFilter", "x", {})) == set()
    config = {"data": {"mesh": "- name: a # by cutset install: a\n- name: b\n"}}
    assert providers_in(config) == {"a"}
