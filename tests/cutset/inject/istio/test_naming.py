from typing import Any

from tests.samples.cluster_resources import namespace, pod, port, service

from cutset.inject.istio.discovery import view_of
from cutset.inject.istio.naming import ambiguous_names, names_of
from cutset.model.cluster import ClusterView


def view(services: list[dict[str, Any]], pods: list[dict[str, Any]], *namespaces: str) -> ClusterView:
    where = namespaces or ("shop",)
    return view_of({"Namespace": [namespace(each) for each in where], "Service": services, "Pod": pods}, where)


def test_all_versions_of_a_service_have_its_name() -> None:
    found = view(
        [service("cart")],
        [pod("cart-v1-1", "cart-v1", labels={"app": "cart"}), pod("cart-v2-1", "cart-v2", labels={"app": "cart"})],
    )
    assert found.names_in("shop") == {"cart-v1": "cart", "cart-v2": "cart"}
    assert found.replicas == {"cart": 2}
    assert not found.ambiguous


def test_of_several_services_the_one_counts_that_the_workload_is_called_by() -> None:
    both = [service("front-external", selector={"app": "front"}), service("front")]
    assert view(both, [pod("front-1", "front")]).names_in("shop") == {"front": "front"}
    assert view(both, [pod("f-1", "f-main", labels={"app": "front"})]).names_in("shop") == {"f-main": "front"}


def test_of_several_services_of_other_names_none_is_taken_for_the_other() -> None:
    both = [service("users", selector={"app": "all"}), service("orders", selector={"app": "all"})]
    found = view(both, [pod("all-1", "all")])
    assert found.names_in("shop") == {"all": "all"}
    assert found.names[0].services == ("orders", "users")


def test_a_service_that_no_plan_reaches_gives_no_name() -> None:
    both = [
        service("stats", port(9125, "udp", protocol="UDP"), selector={"app": "x"}),
        service("web", selector={"app": "x"}),
    ]
    assert view(both, [pod("x-1", "x")]).names_in("shop") == {"x": "web"}


def test_one_name_in_two_namespaces_is_told_apart() -> None:
    found = view(
        [service("cart"), service("cart", within="pay"), service("bank", within="pay")],
        [pod("cart-1"), pod("cart-1", within="pay"), pod("bank-1", within="pay")],
        "shop",
        "pay",
    )
    assert found.names_in("shop") == {"cart": "cart.shop"}
    assert found.names_in("pay") == {"cart": "cart.pay", "bank": "bank"}


def test_a_workload_without_a_service_that_is_called_like_one_is_ambiguous() -> None:
    found = view(
        [service("cart")], [pod("cart-v1-1", "cart-v1", labels={"app": "cart"}), pod("cart-9", "cart", labels={})]
    )
    assert found.ambiguous == (("cart", "shop/cart and shop/cart-v1"),)
    assert found.replicas == {"cart": 1}


def test_nothing_has_no_names() -> None:
    assert names_of([], []) == ()
    assert ambiguous_names([]) == ()
