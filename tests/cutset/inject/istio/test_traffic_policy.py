from typing import Any

import pytest
from tests.samples.cluster_resources import resource

from cutset.inject.istio.traffic_policy import CallPolicy, CallRules, call_policies, full_host, host_matches
from cutset.model.cluster import ClusterPort, ClusterService, Resource

DETECTION = {"outlierDetection": {"consecutive5xxErrors": 3}}
CART = ClusterService("shop", "cart", (ClusterPort(80, 8080, "http"), ClusterPort(7070, 7070, "grpc")), ())


def rule(policy: Resource, *, host: str = "cart", within: str = "shop", made: str = "1", **spec: Any) -> Resource:
    return resource(
        "DestinationRule", "cart", {"host": host, "trafficPolicy": policy, **spec}, within, creationTimestamp=made
    )


def policies(*rules: Resource, caller: str = "shop", mesh: Resource | None = None) -> list[CallPolicy]:
    return call_policies(caller, CART, CallRules(rules, (), (), mesh or {}, "istio-system"))


def ejecting(*rules: Resource, **options: Any) -> list[tuple[int, str]]:
    return [(each.port, each.subset) for each in policies(*rules, **options) if each.ejects]


def test_without_rules_nobody_is_ejected() -> None:
    assert ejecting() == []


@pytest.mark.parametrize("host", ["cart", "cart.shop.svc.cluster.local", "*.shop.svc.cluster.local", "*"])
def test_a_rule_is_for_the_hosts_that_it_names(host: str) -> None:
    assert ejecting(rule(DETECTION, host=host)) == [(80, ""), (7070, "")]


def test_a_rule_for_another_host_is_not_for_this_one() -> None:
    assert ejecting(rule(DETECTION, host="carts"), rule(DETECTION, host="cart", within="payment")) == []


def test_the_rule_of_the_callers_namespace_comes_first_and_that_of_the_root_last() -> None:
    host = "cart.shop.svc.cluster.local"
    own, of_root = rule(DETECTION), rule(DETECTION, host=host, within="istio-system")
    callers = rule({}, host=host, within="web")
    assert ejecting(own, callers, caller="web") == []
    assert ejecting(own, callers, caller="shop") == [(80, ""), (7070, "")]
    assert ejecting(of_root) == [(80, ""), (7070, "")]
    assert ejecting(of_root, rule({})) == []


def test_the_most_particular_rule_wins_then_the_oldest() -> None:
    assert ejecting(rule({}, made="2"), rule(DETECTION, host="*.svc.cluster.local", made="1")) == []
    assert ejecting(rule({}, made="2"), rule(DETECTION, made="1")) == [(80, ""), (7070, "")]


def test_a_port_says_all_that_counts_there() -> None:
    only = {"portLevelSettings": [{"port": {"number": 80}, **DETECTION}]}
    assert ejecting(rule(only)) == [(80, "")]
    but_one = {**DETECTION, "portLevelSettings": [{"port": {"number": 80}}]}
    assert ejecting(rule(but_one)) == [(7070, "")]


def test_a_subset_has_what_it_says_beside_what_the_rule_says() -> None:
    subsets = [{"name": "v1", "trafficPolicy": DETECTION}, {"name": "v2"}]
    pool = {"connectionPool": {"http": {"idleTimeout": "3s"}}}
    found = policies(rule(pool, subsets=subsets))
    assert [(each.subset, each.ejects) for each in found if each.port == 80] == [("", False), ("v1", True)]
    assert all(each.pool == pool["connectionPool"] for each in found)


def test_the_default_of_the_mesh_counts_where_no_rule_says_otherwise() -> None:
    assert ejecting(mesh={"defaultTrafficPolicy": DETECTION}) == [(80, ""), (7070, "")]


def test_short_names_are_of_the_rules_own_namespace() -> None:
    assert full_host("cart", "shop") == CART.host
    assert full_host("cart.example.com", "shop") == "cart.example.com"
    assert not host_matches("*.payment.svc.cluster.local", CART.host)
