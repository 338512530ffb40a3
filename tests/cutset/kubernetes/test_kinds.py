import pytest

from cutset.kubernetes.kinds import KINDS, kind_of, named


@pytest.mark.parametrize(
    ("kind", "namespace", "name", "path"),
    [
        ("Pod", "shop", "cart-1", "/api/v1/namespaces/shop/pods/cart-1"),
        ("Pod", "", "", "/api/v1/pods"),
        ("Namespace", "ignored", "shop", "/api/v1/namespaces/shop"),
        (
            "EnvoyFilter",
            "shop",
            "cutset",
            "/apis/networking.istio.io/v1alpha3/namespaces/shop/envoyfilters/cutset",
        ),
    ],
)
def test_a_resource_has_one_address(kind: str, namespace: str, name: str, path: str) -> None:
    assert KINDS[kind].path(namespace, name) == path


def test_there_are_two_kinds_called_gateway() -> None:
    istio = {"apiVersion": "networking.istio.io/v1", "kind": "Gateway", "metadata": {"name": "g", "namespace": "n"}}
    kubernetes = {**istio, "apiVersion": "gateway.networking.k8s.io/v1"}
    assert kind_of(istio) is KINDS["Gateway"]
    assert kind_of(kubernetes) is KINDS["KubernetesGateway"]
    assert named(istio) == "Gateway n/g"
