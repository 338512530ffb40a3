import pytest

from cutset.model.call_site import AgentCallSite, call_site_at
from cutset.model.point import Point


@pytest.mark.parametrize(
    ("site", "point"),
    [
        (AgentCallSite("cart", "cache/redis/get", "sessions:6379/0"), "cart>cache/redis/get sessions:6379/0"),
        (AgentCallSite("cart", "cache/redis/get"), "cart>cache/redis/get"),
        (
            AgentCallSite("pay", "rpc/httpx/POST /v1/charges", "api.example.com"),
            "pay>rpc/httpx/POST /v1/charges api.example.com",
        ),
        (AgentCallSite("pay", "rpc/httpx/POST /v1/charges"), "pay>rpc/httpx/POST /v1/charges"),
        (AgentCallSite("shop", "mq/nats/publish", "orders.*.created"), "shop>mq/nats/publish orders.*.created"),
    ],
)
def test_a_call_site_is_a_point_and_back(site: AgentCallSite, point: str) -> None:
    assert site.point == Point.parse(point)
    assert call_site_at(site.point) == site


def test_a_call_of_a_service_has_the_api_that_its_sidecar_would_name() -> None:
    site = AgentCallSite("pay", "rpc/httpx/POST /v1/charges", "bank")

    assert (site.is_remote, site.api) == (True, "POST /v1/charges")
    assert not AgentCallSite("pay", "cache/redis/get").is_remote
