import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.errors import InputError
from cutset.model.point import Point

NAMES = st.text(min_size=1)
OCCURRENCES = st.just("") | st.just("last") | st.integers(min_value=1).map(str)
POINTS = st.builds(Point, service=NAMES, api=NAMES, caller=st.text(), replica=st.text(), occurrence=OCCURRENCES)


@given(POINTS)
def test_a_point_parses_back(point):
    assert Point.parse(str(point)) == point


@given(st.text(alphabet="ab%2F>/#@1last: \n"))
def test_what_parses_once_parses_to_the_same_again(text):
    try:
        point = Point.parse(text)
    except InputError:
        return
    assert Point.parse(str(point)) == point


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("cart/GetCart", Point("cart", "GetCart")),
        ("frontend>cart/GetCart", Point("cart", "GetCart", caller="frontend")),
        ("cart/GET /carts/*@last", Point("cart", "GET /carts/*", occurrence="last")),
        ("a>b/c#2@3", Point("b", "c", caller="a", replica="2", occurrence="3")),
        ("b/users:batchGet", Point("b", "users:batchGet")),
        ("b/c%40d", Point("b", "c@d")),
    ],
)
def test_points_are_written_as_documented(text, point):
    assert Point.parse(text) == point
    assert str(point) == text


@pytest.mark.parametrize(
    "text", ["", "cart", "/x", "cart/", ">cart/x", "a>b>c/x", "a/b#", "a/b@0", "a/b@first", "a/b@1#2"]
)
def test_what_is_no_point_is_refused(text):
    with pytest.raises(InputError) as caught:
        Point.parse(text)
    assert caught.value.message == f"`{text}` is not a point"
    assert caught.value.hint == "Write `service/API`, as in `cart/GetCart`, `frontend>cart/GetCart`, `cart/GetCart#2`"


def test_the_api_of_a_point_has_no_caller_replica_or_occurrence():
    assert Point.parse("a>b/c#2@3").of_api == Point("b", "c")


@pytest.mark.parametrize(
    ("text", "endpoint", "peer"),
    [
        ("cart>cache/redis/get", "cache/redis/get", ""),
        ("cart>cache/redis/get sessions:6379/0@2", "cache/redis/get", "sessions:6379/0"),
        ("cart>rpc/httpx/GET /quote/*", "rpc/httpx/GET /quote/*", ""),
        ("cart>rpc/httpx/GET /quote/* quotes.example:8080", "rpc/httpx/GET /quote/*", "quotes.example:8080"),
        ("cart>db/psycopg/execute unix:/tmp:5432/shop", "db/psycopg/execute", "unix:/tmp:5432/shop"),
        ("cart>mq/nats/publish orders.*", "mq/nats/publish", "orders.*"),
        ("frontend>cart/GET /cart", "cart/GET /cart", ""),
    ],
)
def test_an_endpoint_may_have_a_peer(text, endpoint, peer):
    point = Point.parse(text)
    assert (point.endpoint, point.peer, str(point)) == (endpoint, peer, text)
