import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.lineage.identifiers import is_term, mask, mask_name
from cutset_agent.wire import normalise_api

IDENTIFIERS = """
    7 123 0042 2024 ١٢٣ 1,2,3
    3f2504e0-4f89-11d3-9a0c-0305e82c3301 3F2504E04F8911D39A0C0305E82C3301 da39a3ee deadbeef 507f1f77bcf86cd799439011
    01ARZ3NDEKTSV4RRFFQ69G5FAV 0ujsswThIGTUYm2K8FjOOfXtY1K dQw4w9WgXcQ eyJhbGciOiJIUzI1NiJ9 dGVzdA== 0PUK6V6EV0
    2024-01-05 20240105 2024-01-05T10:15:00Z 2024-W05 1704448500
    jane@example.com jane%40example.com 10.0.0.1 10.0.0.1:8080 fe80::1 2001:db8::8a2e:370:7334
    order-1234 T_1725 cus_9s6XKzkNRiz8i3 user_uuid:567xyz urn:user:12345 how-to-win-20240105
    app.3f2a1b.js chunk-vendors.c863181d.js underscore-6e1f1c149dc88c708f9bfce4a061187f.js IMG_20240105.jpg
    a%20b %ff%fe %zz a%2Fb {id} %7Bid%7D :id <int:id>
"""

NO_IDENTIFIERS = """
    v1 v2 V3 v2.1 v1beta1 v2p1beta1 1.0 1.1
    oauth2 OAuth2 s3 ipv4 utf8 web3 2fa mp3 h264 log4j top10 k8s base64 sha256 sha-256 x86_64 iso-8859-1 covid-19 http2
    oauth2-callback sha256-verify us-east-1 jquery-3.6.0.min.js step-1 page2 gpt-4o react@18.2.0
    checkout getUserBySsoToken items:batchGet @alice users.json robots.txt .well-known _app_ käse k%C3%A4se 東京
    en de-AT pt_br es-419 zh-Hans-CN *
"""


@pytest.mark.parametrize("segment", IDENTIFIERS.split())
def test_what_looks_like_an_identifier_is_masked_without_learning(segment: str) -> None:
    assert mask(f"/items/{segment}/x") == "/items/*/x"


@pytest.mark.parametrize("segment", NO_IDENTIFIERS.split())
def test_words_and_versions_with_digits_are_not_masked(segment: str) -> None:
    assert mask(f"/items/{segment}/x") == f"/items/{segment}/x"


@pytest.mark.parametrize(
    ("path", "masked"),
    [
        ("", "/"),
        ("?page=2", "/"),
        ("/", "/"),
        ("*", "*"),
        ("login", "login"),
        ("/items/", "/items/"),
        ("//double//42", "//double//*"),
        ("/search?q=/1/2#top", "/search"),
        ("/a#b/1", "/a"),
        ("/users;role=admin/42;v=1/x", "/users/*/x"),
        ("/a b/c", "/*/c"),
        ("/tags/" + "x" * 81, "/tags/*"),
        ("/a" * 10_000, "/a" * 30 + "/*"),
    ],
)
def test_paths_of_any_form_are_masked(path: str, masked: str) -> None:
    assert mask(path) == masked


@pytest.mark.parametrize(
    ("name", "masked"),
    [
        ("GET /users/123", "GET /users/*"),
        ("GET http://users:8080/users/123?x=1", "GET http://users:8080/users/*"),
        ("process order 8421", "process order *"),
        ("process order-8421", "process order-*"),
        ("job 3f2504e0-4f89-11d3-9a0c-0305e82c3301 done", "job * done"),
        ("redis GET user:1234", "redis GET user:*"),
        ("dial 10.0.0.1:5432", "dial *"),
        ("commit(d845ef00-705e-11ea-ed00-2ff838de6f20, x)", "commit(*, x)"),
        ("report of 2024-01-05T10:15:00Z", "report of *"),
        ("GET /product/HQTGWGPNH4", "GET /product/*"),
        ("mail jane@example.com", "mail *"),
        ("SELECT orders_2023", "SELECT orders_*"),
    ],
)
def test_identifiers_in_names_of_spans_are_masked(name: str, masked: str) -> None:
    assert mask_name(name) == masked


@pytest.mark.parametrize(
    "name",
    [
        "",
        "HTTP GET",
        "GET /",
        "SELECT ts.route",
        "hipstershop.X/Y",
        "/hipstershop.CartService/Get123456",
        "grpc.hipstershop.CartService/GetCart",
        "reviews.default.svc.cluster.local:9080/*",
        "convertUtf8ToUtf16",
        "Sha256Digest.update",
        "S3.PutObject",
        "/api/v1/travel2service/trips/left",
        "GET /orders/{id}/items/:item",
        "orders-3 process",
    ],
)
def test_names_without_identifiers_stay_as_they_are(name: str) -> None:
    assert mask_name(name) == name


@given(st.text())
def test_masking_a_name_again_changes_nothing(name: str) -> None:
    assert mask_name(mask_name(name)) == mask_name(name)


@given(st.text(alphabet="0123456789abcdefxyzABCDEF-_/.", max_size=40))
def test_what_sidecars_mask_is_masked_but_for_versions_and_terms(path: str) -> None:
    theirs, ours = normalise_api("GET", path, grpc=False).removeprefix("GET ").split("/"), mask(path).split("/")
    for segment, their, our in zip(path.split("/"), theirs, ours, strict=False):
        assert our == "*" or their != "*" or is_term(segment)
