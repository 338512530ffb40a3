from dataclasses import replace

import pytest

from cutset.harden.remedies.evidence import SiteEvidence
from cutset.harden.remedies.registry import advise
from cutset.manifests.istio import istio_manifests, istio_problems, merged
from cutset.model.hardening import Latency
from cutset.model.point import Point

LATENCY = Latency(calls=5_000, median=0.1, p99=0.5, p999=0.6, longest=2.0)
EVIDENCE = SiteEvidence(Point("cart", "GetCart"), latency=LATENCY, per_second=100.0, replicas=2, retries=0)


def manifests(*sites: str) -> list[dict]:
    return istio_manifests({Point.parse(site): advise(replace(EVIDENCE, site=Point.parse(site)))[0] for site in sites})


def test_a_grpc_api_gets_a_route_of_its_own_before_that_of_all_others() -> None:
    service, rule = manifests("cart/GetCart")
    assert service["metadata"] == {"name": "cart"}
    assert service["spec"]["hosts"] == ["cart"]
    first, last = service["spec"]["http"]
    assert first == {
        "name": "cutset-cart-getcart",
        "match": [{"uri": {"regex": "/[^/]+/GetCart"}}],
        "route": [{"destination": {"host": "cart"}}],
        "timeout": "0.9s",
        "retries": {"attempts": 1, "retryOn": "connect-failure,refused-stream,unavailable,503"},
    }
    assert last == {"route": [{"destination": {"host": "cart"}}]}
    policy = rule["spec"]["trafficPolicy"]
    assert policy["outlierDetection"]["consecutive5xxErrors"] == 5
    assert policy["retryBudget"] == {"percent": 20.0, "minRetryConcurrency": 3}
    assert policy["connectionPool"] == {"http": {"http2MaxRequests": 150, "http1MaxPendingRequests": 150}}


@pytest.mark.parametrize(
    ("site", "match"),
    [
        ("web/GET /cart", {"method": {"exact": "GET"}, "uri": {"exact": "/cart"}}),
        ("web/GET /carts/*/items", {"method": {"exact": "GET"}, "uri": {"regex": r"/carts/[^/]+/items(\?.*)?"}}),
        ("web>cart/GetCart", {"uri": {"regex": "/[^/]+/GetCart"}, "sourceLabels": {"app": "web"}}),
    ],
)
def test_routes_match_methods_paths_and_callers(site: str, match: dict) -> None:
    assert manifests(site)[0]["spec"]["http"][0]["match"] == [match]


def test_apis_of_one_service_share_its_resources() -> None:
    assert [each["kind"] for each in manifests("cart/GetCart", "cart/ListCarts", "tax/GetTax")] == [
        "VirtualService",
        "DestinationRule",
    ] * 2


def test_what_istio_cannot_do_makes_no_manifest() -> None:
    assert istio_manifests({EVIDENCE.site: [each for each in advise(EVIDENCE)[0] if each.remedy == "fallback"]}) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"timeout": 3}, "timeout: expected string, found 3"),
        ({"timeout": "soon"}, "timeout: expected a duration"),
        ({"retries": {"attempts": "two"}}, "retries.attempts: expected integer, found 'two'"),
        ({"retries": {"attempts": True}}, "retries.attempts: expected integer, found True"),
        ({"retry": {}}, "retry: there is no such field"),
        ({"match": [{"uri": {"exact": "/", "regex": "/"}}]}, "match[0].uri: fits"),
        ({"route": [{}]}, "route[0]: `destination` is missing"),
        ({"fault": {"abort": {"httpStatus": 1}}}, ""),
    ],
)
def test_istios_own_schema_finds_what_is_wrong(change: dict, problem: str) -> None:
    manifest = manifests("cart/GetCart")[0]
    manifest["spec"]["http"][0] |= change
    found = list(istio_problems(manifest))
    assert found == [] if not problem else any(problem in each for each in found), found


def test_other_kinds_are_not_known() -> None:
    assert list(istio_problems({"kind": "Gateway"})) == [
        "kind: expected one of DestinationRule, VirtualService, found 'Gateway'"
    ]


def test_a_merge_adds_what_is_missing_and_names_what_differs() -> None:
    existing = {"spec": {"host": "cart", "trafficPolicy": {"outlierDetection": {"interval": "5s"}}}}
    ours = {"spec": {"host": "cart", "trafficPolicy": {"outlierDetection": {"interval": "1s", "x": 1}, "y": 2}}}
    result, conflicts = merged(existing, ours)
    policy = {"outlierDetection": {"interval": "5s", "x": 1}, "y": 2}
    assert result == {"spec": {"host": "cart", "trafficPolicy": policy}}
    assert conflicts == ['`spec.trafficPolicy.outlierDetection.interval` is "5s" there, and would be "1s"']
    assert merged(existing, existing) == (existing, [])
