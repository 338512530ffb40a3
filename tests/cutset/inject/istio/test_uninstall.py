"""That nothing is left is shown beside what was installed, in test_install.py."""

import asyncio

import pytest
from tests.samples.cluster_resources import namespace, resource
from tests.samples.small_api_server import SmallApiServer

from cutset.errors import UsageError
from cutset.inject.istio.marks import marked
from cutset.inject.istio.uninstall import Removal, prepare_removal
from cutset.kubernetes.client import connected
from cutset.kubernetes.kinds import KINDS


def removal(*namespaces: str, environment: str = "") -> Removal:
    async def run() -> Removal:
        async with connected() as cluster:
            return await prepare_removal(cluster, namespaces, environment)

    return asyncio.run(run())


def test_nothing_is_found_where_nothing_is(server: SmallApiServer) -> None:
    found = removal("shop")
    assert (found.environment, found.filters, found.rest, found.installation) == ("shop", (), (), None)


def test_namespaces_of_several_environments_are_refused_unless_one_is_named(server: SmallApiServer) -> None:
    server.put({"apiVersion": "v1", **namespace("inn")})
    for name in ("shop", "inn"):
        made = marked(resource("EnvoyFilter", f"cutset-{name}", {"configPatches": []}, name), f"the-{name}")
        server.put({"apiVersion": KINDS["EnvoyFilter"].version, **made})
    with pytest.raises(UsageError, match="`the-inn`, `the-shop`"):
        removal("shop", "inn")
    assert [each["metadata"]["name"] for each in removal("shop", "inn", environment="the-inn").filters] == [
        "cutset-inn"
    ]
    assert removal("shop").environment == "the-shop"
