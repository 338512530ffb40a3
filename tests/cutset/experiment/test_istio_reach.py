from typing import Any

from tests.samples.cluster_resources import namespace, pod, port, service, shop

from cutset.experiment.istio_reach import reach_checks
from cutset.inject.istio.discovery import view_of
from cutset.model.checkup import CheckupLine, LineState


def checks(**changes: Any) -> list[CheckupLine]:
    listed = shop() | changes
    return reach_checks(["shop"], view_of(listed, ["shop"]), listed)


def wrong(**changes: Any) -> CheckupLine:
    (found,) = [check for check in checks(**changes) if check.state is LineState.WRONG]
    assert found.remedy
    return found


def noted(**changes: Any) -> CheckupLine:
    (found,) = [check for check in checks(**changes) if check.state is LineState.NOTE]
    return found


def test_where_all_is_well_sidecars_are_counted() -> None:
    assert [check.text for check in checks()] == ["3 pods in shop have sidecars"]


def test_a_namespace_that_is_not_there_is_told() -> None:
    assert wrong(Namespace=[]).text == "there is no namespace `shop`"
    assert wrong(Namespace=[]).fatal


def test_a_namespace_without_sidecars_is_told() -> None:
    bare = [pod("frontend-1", proxy=""), pod("cart-1", proxy="")]
    found = checks(Pod=bare, Namespace=[namespace(team="a")])
    assert found[0].fatal
    assert "no pod in shop" in found[0].text
    assert len([check for check in found if check.name == "reach"]) == 2


def test_an_ambient_namespace_is_told_with_the_reason() -> None:
    bare = [pod("frontend-1", proxy=""), pod("cart-1", proxy="")]
    found = checks(Pod=bare, Namespace=[namespace(**{"istio.io/dataplane-mode": "ambient"})])
    assert found[0].fatal
    assert "waypoints ignore EnvoyFilters" in found[0].text


def test_a_namespace_that_lost_its_label_is_noted() -> None:
    assert "not labelled" in noted(Namespace=[namespace(team="a")]).text


def test_one_pod_without_a_sidecar_is_told() -> None:
    found = wrong(Pod=[*shop()["Pod"], pod("cart-2", proxy="")])
    assert found.text.startswith("no plan reaches Service shop/cart, pod cart-2: it has no sidecar")
    assert "rollout restart" in found.remedy


def test_a_port_past_the_sidecar_is_told() -> None:
    passed = pod("cart-1", annotations={"traffic.sidecar.istio.io/excludeInboundPorts": "8080"})
    assert "annotation" in wrong(Pod=[*shop()["Pod"][:2], passed]).remedy


def test_a_service_without_pods_is_told() -> None:
    assert "no pod serves it" in wrong(Service=[*shop()["Service"], service("x")]).text


def test_databases_are_noted() -> None:
    found = noted(Service=[*shop()["Service"], service("db", port(5432, "tcp"))], Pod=[*shop()["Pod"], pod("db-1")])
    assert "Service shop/db, port 5432" in found.text


def test_ports_that_istio_has_to_guess_are_noted() -> None:
    services = [service("frontend", port(80, "web")), *shop()["Service"][1:]]
    assert "guess what is spoken at shop/frontend:80" in noted(Service=services).text


def test_a_pod_that_is_not_ready_is_told() -> None:
    dead = pod("cart-1")
    dead["status"]["conditions"] = []
    assert wrong(Pod=[*shop()["Pod"][:2], dead]).text == "shop/cart-1 is not ready"


def test_names_that_mean_two_workloads_are_told() -> None:
    bare = pod("frontend-9", "cart", labels={})
    served = pod("cart-1", "cart-v1", labels={"app": "cart"})
    found = wrong(Pod=[*shop()["Pod"][:2], served, bare])
    assert found.fatal
    assert "`cart` alike" in found.text


def test_several_services_over_one_workload_are_noted() -> None:
    services = [*shop()["Service"], service("cart-external", selector={"app": "cart"})]
    assert "cart, cart-external lead to one workload, shop/cart" in noted(Service=services).text
