from cutset.model.cluster import ClusterPod, ClusterService, ClusterView, IstioPlace, WorkloadName


def test_a_service_of_two_versions_has_two_workloads() -> None:
    pods = [ClusterPod("shop", f"{name}-1", name, "10.0.0.1", ready=True, sidecar=True) for name in ("b-v2", "b-v1")]
    service = ClusterService("shop", "b", (), (*pods, pods[0]))
    assert service.workloads == ("b-v1", "b-v2")
    assert service.host == "b.shop.svc.cluster.local"


def test_replicas_are_counted_by_the_names_of_points() -> None:
    names = [WorkloadName("shop", f"b-v{n}", "b", ("b",), n) for n in (1, 2)]
    view = ClusterView((), (), names=(*names, WorkloadName("shop", "worker", "worker", (), 3)))
    assert view.replicas == {"b": 3}
    assert view.names_in("shop") == {"b-v1": "b", "b-v2": "b", "worker": "worker"}


def test_the_address_of_a_gateway_is_that_inside_the_cluster() -> None:
    assert IstioPlace(("shop",), gateway="istio-ingress/ingress").gateway_url == "http://ingress.istio-ingress:80"
    assert IstioPlace(("shop",)).gateway_url == ""
