import pytest
from tests.samples.cluster_resources import pod, port

from cutset.inject.istio.ports import port_of, protocol_of


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        ("http", "http"),
        ("http-web", "http"),
        ("HTTP-web", "http"),
        ("http2", "http2"),
        ("grpc", "grpc"),
        ("grpc-cart", "grpc"),
        ("grpc-web", "grpc-web"),
        ("grpc-web-cart", "grpc-web"),
        ("https", "https"),
        ("tls-x", "tls"),
        ("redis", "tcp"),
        ("web", ""),
        ("httpx", ""),
        ("", ""),
    ],
)
def test_a_protocol_is_how_the_name_of_a_port_begins(name: str, protocol: str) -> None:
    assert protocol_of(port(8080, name)) == protocol


@pytest.mark.parametrize(
    ("said", "protocol"), [("grpc", "grpc"), ("kubernetes.io/h2c", "http2"), ("kubernetes.io/wss", "https"), ("x", "")]
)
def test_what_is_said_outright_wins_over_the_name(said: str, protocol: str) -> None:
    assert protocol_of(port(8080, "http", appProtocol=said)) == protocol


def test_ports_that_are_known_for_something_else_are_not_guessed() -> None:
    assert protocol_of(port(3306, "")) == "tcp"
    assert protocol_of(port(3306, "http")) == "http"
    assert protocol_of(port(53, "http", protocol="UDP")) == "udp"


def test_a_target_by_name_is_looked_up_in_the_pods() -> None:
    assert port_of(port(80, target="web"), [pod("cart-1")]).target == 8080
    assert port_of(port(80, target="nowhere"), [pod("cart-1")]).target == 0
    assert port_of({"port": 80}, []).target == 80
