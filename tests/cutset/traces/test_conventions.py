import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.model.span import KEPT_ATTRIBUTES, SpanKind
from cutset.traces.conventions import READ_ATTRIBUTES, bounded, failed, kept, span_id, trace_id

MONGO = {"db.system.name": "mongodb", "peer.service": "users-db"}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (
            {"http.method": "GET", "http.status_code": 200},
            {"http.request.method": "GET", "http.response.status_code": "200"},
        ),
        ({"http.status_code": 503.0}, {"http.response.status_code": "503"}),
        ({"http.url": "http://cart:8080/items/7?user=1#top"}, {"url.path": "/items/7"}),
        ({"http.url": "https://cart"}, {"url.path": "/"}),
        ({"http.url": "http://cart/?next=http://other/x"}, {"url.path": "/"}),
        ({"http.url": "cart:80/items"}, {"url.path": "/items"}),
        ({"http.target": "/items?user=1"}, {"url.path": "/items"}),
        ({"url.path": "installedapps/7"}, {"url.path": "/installedapps/7"}),
        ({"http.path": "installedapps"}, {"url.path": "/installedapps"}),
        ({"http.target": "items?next=http://other/x"}, {"url.path": "/items"}),
        ({"http.path": "http://cart/items?a=b"}, {"url.path": "/items"}),
        ({"url.path": ""}, {"url.path": "/"}),
        ({"url.full": "https://cart/a/b"}, {"url.path": "/a/b"}),
        ({"http.route": "/items/{id}"}, {"http.route": "/items/{id}"}),
        (
            {"rpc.system": "grpc", "rpc.service": "shop.Cart", "rpc.method": "Get", "rpc.grpc.status_code": 14},
            {"rpc.system.name": "grpc", "rpc.method": "shop.Cart/Get", "rpc.response.status_code": "UNAVAILABLE"},
        ),
        ({"rpc.service": "shop.Cart"}, {}),
        ({"rpc.service": "shop.Cart", "rpc.method": "/shop.Cart/Get"}, {"rpc.method": "shop.Cart/Get"}),
        (
            {"grpc.path": "/shop.Cart/Get", "grpc.status_code": "4", "component": "proxy"},
            {"rpc.method": "shop.Cart/Get", "rpc.response.status_code": "DEADLINE_EXCEEDED", "rpc.system.name": "grpc"},
        ),
        ({"rpc.response.status_code": "DeadlineExceeded"}, {"rpc.response.status_code": "DEADLINE_EXCEEDED"}),
        ({"component": "gRPC"}, {"rpc.system.name": "grpc"}),
        ({"component": "java-mongo", "peer.address": "users-db:27017"}, MONGO),
        ({"component": "java-memcached", "peer.address": "10.0.0.7:11211"}, {"db.system.name": "memcached"}),
        ({"db.system": "mongodb", "db.connection_string": "mongodb://me:secret@users-db:27017,b:1/users"}, MONGO),
        ({"db.connection_string": "users.db"}, {}),
        ({"mongodb.collection": "users"}, {"db.system.name": "mongodb", "db.collection.name": "users"}),
        ({"component": "net/http"}, {}),
        (
            {"db.system": "postgresql", "db.statement": "  select * from public.users where id = 7"},
            {"db.system.name": "postgresql", "db.operation.name": "SELECT", "db.collection.name": "public.users"},
        ),
        (
            {"db.query.text": "/* why */ INSERT INTO `t` VALUES (1)"},
            {"db.operation.name": "INSERT", "db.collection.name": "t"},
        ),
        (
            {"db.type": "Redis", "db.statement": "HMSET secret:1 a b"},
            {"db.system.name": "redis", "db.operation.name": "HMSET"},
        ),
        ({"db.statement": '{"find": "users"}'}, {"db.operation.name": "find"}),
        ({"db.statement": "???"}, {}),
        (
            {"db.operation": "find", "db.mongodb.collection": "users"},
            {"db.operation.name": "find", "db.collection.name": "users"},
        ),
        ({"net.peer.name": "cart.shop.svc.cluster.local"}, {"peer.service": "cart.shop"}),
        ({"server.address": "cart:7070"}, {"peer.service": "cart"}),
        ({"server.address": "10.0.0.7", "net.peer.name": "fe80::1", "peer.hostname": "localhost"}, {}),
        (
            {"upstream_cluster": "outbound|9080|v1|reviews.default.svc.cluster.local"},
            {"peer.service": "reviews.default"},
        ),
        ({"upstream_cluster": "inbound|9080||"}, {}),
        (
            {"messaging.system": "kafka", "messaging.destination": "orders", "messaging.operation": "publish"},
            {
                "messaging.system": "kafka",
                "messaging.destination.name": "orders",
                "messaging.operation.name": "publish",
            },
        ),
        ({"user.email": "a@b", "enduser.id": "7", "http.request.header.cookie": "secret"}, {}),
    ],
)
def test_old_and_new_names_become_the_present_ones(attributes, expected):
    assert kept(attributes) == expected
    assert kept({name: value for name, value in attributes.items() if name in READ_ATTRIBUTES}) == expected


@pytest.mark.parametrize(
    "attributes",
    [{"http.method": "GET", "http.request.method": "PUT"}, {"http.request.method": "PUT", "http.method": "GET"}],
)
def test_a_present_name_wins_over_an_old_one(attributes):
    assert kept(attributes) == {"http.request.method": "PUT"}


@given(
    st.dictionaries(
        st.sampled_from(sorted(READ_ATTRIBUTES)),
        st.one_of(
            st.text(), st.text("/?#:. |'\"*", max_size=9), st.integers(), st.floats(), st.booleans(), st.just("x" * 999)
        ),
    )
)
def test_whatever_the_values_only_bounded_texts_are_kept(attributes):
    for name, value in kept(attributes).items():
        assert name in KEPT_ATTRIBUTES
        assert isinstance(value, str)
        assert 0 < len(value) <= 512
        assert "\0" not in value
        value.encode()


@pytest.mark.parametrize(
    ("flag", "kind", "attributes", "expected"),
    [
        (True, SpanKind.INTERNAL, {}, True),
        (False, SpanKind.SERVER, {}, False),
        (False, SpanKind.SERVER, {"http.response.status_code": "500"}, True),
        (False, SpanKind.SERVER, {"http.response.status_code": "404"}, False),
        (False, SpanKind.CLIENT, {"http.response.status_code": "404"}, True),
        (False, SpanKind.CLIENT, {"http.response.status_code": "302"}, False),
        (False, SpanKind.CLIENT, {"http.response.status_code": "none"}, False),
        (False, SpanKind.SERVER, {"http.response.status_code": "200", "rpc.response.status_code": "UNAVAILABLE"}, True),
        (False, SpanKind.SERVER, {"rpc.response.status_code": "NOT_FOUND"}, False),
        (False, SpanKind.CLIENT, {"rpc.response.status_code": "NOT_FOUND"}, True),
        (False, SpanKind.CLIENT, {"rpc.response.status_code": "OK"}, False),
    ],
)
def test_callers_and_servers_fail_by_rules_of_their_own(flag, kind, attributes, expected):
    assert failed(flag, kind, attributes) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0AF7651916CD43DD8448EB211C80319C", "0af7651916cd43dd8448eb211c80319c"),
        ("978883983d506fa5", "0" * 16 + "978883983d506fa5"),
        ("1", "0" * 31 + "1"),
        ("", ""),
        ("0" * 32, ""),
        ("000", ""),
        ("T_123", "T_123"),
        ("f" * 33, "f" * 33),
        ("g" * 100, "g" * 64),
        ("a\0\ud800z", "a\ufffd\ufffdz"),
    ],
)
def test_a_trace_id_is_hexadecimal_where_it_can_be(text, expected):
    assert trace_id(text) == expected


def test_a_span_id_has_16_digits():
    assert span_id("B7AD") == "000000000000b7ad"
    assert span_id("0" * 16) == ""
    assert span_id("0.1.2") == "0.1.2"


def test_text_that_can_be_stored_is_left_alone():
    assert bounded("Grüße, 世界\n") == "Grüße, 世界\n"
