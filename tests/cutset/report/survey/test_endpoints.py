from tests.samples.surveyed_shop import surveyed_shop

from cutset.app.survey import find_endpoints
from cutset.report.survey.endpoints import to_document, to_lines

CHOICE = find_endpoints(surveyed_shop())


def test_targets_are_listed_with_the_class_that_shows_them() -> None:
    assert list(to_lines(CHOICE)) == [
        "[bold]cache/redis/GET[/]  [dim]20 calls by 1 service[/]",
        "     web>redis/GET  [dim]in GET /cart[/]",
        "[bold]rpc/grpc/cart/GetCart[/]  [dim]4 calls by 1 service[/]",
        "     web>cart/GetCart  [dim]in GET /cart[/]",
        "\n[dim]2 targets for 2 endpoints, which services use in 2 places.[/]",
    ]


def test_the_document_has_targets_with_a_trace_and_endpoints_with_their_users() -> None:
    document = to_document(CHOICE)
    assert document["endpoints"][0] == {"endpoint": "cache/redis/GET", "services": {"web": 20}}
    assert document["targets"][1] == {
        "endpoint": "rpc/grpc/cart/GetCart",
        "point": "web>cart/GetCart",
        "request_class": "GET /cart",
        "trace_id": "5a",
    }
