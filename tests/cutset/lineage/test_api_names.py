import pytest

from cutset.lineage.api_names import api_of, bare_method, component_of, remote_point
from cutset.lineage.routes import as_the_mesh_names
from cutset.model.call_tree import Component
from cutset.model.span import SpanKind, SpanLabel


def client(name: str = "any", **told: str) -> SpanLabel:
    return SpanLabel("cart", name, SpanKind.CLIENT, **told)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "label",
    [
        SpanLabel("users", "x", http_method="GET", http_route="/users/{name}/orders/:id"),
        SpanLabel("users", "x", http_method="GET", http_route="/users/<name>/orders/[id]"),
        SpanLabel("users", "x", http_method="GET", url_path="/users/*/orders/*"),
    ],
)
def test_an_api_has_one_name_whoever_tells_of_it(label: SpanLabel) -> None:
    assert api_of(label) == "GET /users/*/orders/*" == as_the_mesh_names("GET /users/{name}/orders/{id}")


@pytest.mark.parametrize(
    "label",
    [
        SpanLabel("user", "/user.User/CheckUser"),
        SpanLabel("user", "user.User/CheckUser"),
        SpanLabel("user", "x", rpc_method="user.User/CheckUser"),
    ],
)
def test_grpc_is_called_by_its_method_also_where_only_the_span_is_named_so(label: SpanLabel) -> None:
    assert api_of(label) == "CheckUser"


def test_other_names_stay_as_they_are() -> None:
    assert [bare_method(name) for name in ("poll", "GET /a/B", "a/b")] == ["poll", "GET /a/B", "a/b"]


def test_a_route_that_the_application_tells_names_what_its_sidecar_saw() -> None:
    own = SpanLabel("users", "x", http_route="/users/{name}")
    sidecar = SpanLabel("users", "ingress", http_method="GET", url_path="/users/alice")

    assert api_of(own, sidecar) == "GET /users/*"


def test_a_store_without_an_address_is_its_callers_own() -> None:
    query = client(db_system="Other_SQL", db_operation="SELECT", db_collection="shop.carts")

    assert str(remote_point(query, "cart")) == "other_sql(cart)/SELECT shop.carts"
    assert str(remote_point(query, "web")) == "other_sql(web)/SELECT shop.carts"
    assert str(remote_point(client(db_system="mysql", db_operation="SELECT", peer="db1"), "cart")) == "db1/SELECT"


def test_so_is_a_callee_of_which_nothing_is_known() -> None:
    assert str(remote_point(client(http_method="POST", url_path="/v1/messages"), "cart")) == (
        "unknown(cart)/POST /v1/messages"
    )


def test_a_consumer_is_called_by_its_topic() -> None:
    consumer = SpanLabel("mail", "poll 17", SpanKind.CONSUMER, messaging_system="kafka", messaging_destination="orders")

    assert api_of(consumer) == "process orders"


def test_a_broker_is_known_by_its_topics() -> None:
    sent = client(messaging_system="kafka", messaging_destination="orders")

    assert remote_point(sent, "cart") == remote_point(sent, "web")


@pytest.mark.parametrize(
    ("label", "component", "point"),
    [
        (
            client("memcached_get_multi_rate"),
            (Component.CACHE, "memcached"),
            "memcached(cart)/memcached_get_multi_rate",
        ),
        (client("mongo_rate"), (Component.DATABASE, "mongodb"), "mongodb(cart)/mongo_rate"),
        (client("MongoFind"), (Component.DATABASE, "mongodb"), "mongodb(cart)/MongoFind"),
        (client("get_multi", peer="memcache"), (Component.CACHE, "memcached"), "memcache/get_multi"),
        (client("begin", peer="mysql"), (Component.DATABASE, "mysql"), "mysql/begin"),
        (client("publish", peer="rabbitmq"), (Component.QUEUE, "rabbitmq"), "rabbitmq/publish"),
        (client("acquiring lock of mongo"), (Component.UNKNOWN, ""), "unknown(cart)/acquiring lock of mongo"),
        (client("natsuki"), (Component.UNKNOWN, ""), "unknown(cart)/natsuki"),
    ],
)
def test_stores_that_only_a_name_tells_of_are_stores(
    label: SpanLabel, component: tuple[Component, str], point: str
) -> None:
    assert component_of(label) == component
    assert str(remote_point(label, "cart")) == point


def test_a_call_that_says_what_it_is_needs_no_name() -> None:
    assert component_of(client("GET /mongo", http_method="GET"))[0] is Component.HTTP
    assert component_of(SpanLabel("redis-proxy", "redis GET", SpanKind.SERVER))[0] is Component.UNKNOWN


def test_agents_name_what_is_called_by_its_endpoint() -> None:
    assert component_of(client("db/psycopg/execute")) == (Component.DATABASE, "psycopg")
    assert str(remote_point(client("db/psycopg/execute"), "cart")) == "psycopg(cart)/execute"
    assert str(remote_point(client("mq/nats/publish"), "cart")) == "nats/publish"
    assert str(remote_point(client("rpc/httpx/POST /v1/charges", peer="bank"), "cart")) == "bank/POST /v1/charges"
