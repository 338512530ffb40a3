"""What is removed in which order is shown beside what was installed, in test_install.py."""

import asyncio

import pytest
from tests.samples.cluster_resources import service
from tests.samples.small_api_server import SmallApiServer

from cutset.inject.istio.marking import BY, marker_name, marking_policy
from cutset.inject.istio.marking_found import marker_of, marking_of, policies_of, who_marks
from cutset.inject.istio.marks import marked
from cutset.kubernetes.client import ForbiddenError, connected
from cutset.kubernetes.kinds import named
from cutset.model.cluster import ClusterGateway, Resource

GATEWAY = ClusterGateway("istio-ingress", "ingress", (), (), (("istio", "ingressgateway"),))
MARKER = marked(service(marker_name("shop"), within="cutset"), "shop")


def found(environment: str = "", *places: str) -> list[Resource]:
    async def run() -> list[Resource]:
        async with connected() as cluster:
            return await marking_of(cluster, environment, places)

    return asyncio.run(run())


def test_the_marker_and_the_policies_of_an_environment_are_found_and_of_no_other(server: SmallApiServer) -> None:
    for each in (MARKER, marking_policy("shop", GATEWAY, []), marking_policy("inn", GATEWAY, [])):
        server.put(each)
    listed = found("shop")
    assert [named(each) for each in policies_of(listed)] == [
        "AuthorizationPolicy istio-ingress/cutset-shop-marking-ingress"
    ]
    assert [named(each) for each in marker_of(listed)] == ["Service cutset/cutset-marker-shop"]
    assert len(policies_of(found())) == 2


def test_who_may_not_look_for_policies_is_told_only_if_there_may_be_one(server: SmallApiServer) -> None:
    server.forbidden.add("list authorizationpolicies")
    assert found("shop", "istio-ingress") == []
    server.put(MARKER)
    with pytest.raises(ForbiddenError):
        found("shop", "istio-ingress")


def test_it_is_said_who_marks() -> None:
    assert who_marks(marking_policy("shop", GATEWAY, [], **{BY: "me@here"})) == "by me@here"
    assert who_marks(marking_policy("shop", GATEWAY, [])) == "by somebody"
