import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.lineage.call_tree import MAX_DEPTH, CallReader
from cutset.model.call_tree import CallTree, Component
from cutset.model.point import Point
from cutset.model.shape import LOST, ROOT
from cutset.model.span import SpanKind, SpanLabel

Trace = Sequence[tuple[SpanLabel, int]]


def server(service: str, method: str, *, error: bool = False) -> SpanLabel:
    return SpanLabel(service, method, SpanKind.SERVER, error, rpc_system="grpc", rpc_method=f"shop.{service}/{method}")


def client(service: str, method: str, *, error: bool = False) -> SpanLabel:
    return SpanLabel(service, method, SpanKind.CLIENT, error, rpc_system="grpc", rpc_method=f"shop.any/{method}")


PAGE = SpanLabel("frontend", "GET /", SpanKind.SERVER, http_method="GET", http_route="/")


def read(*spans: tuple[SpanLabel, int]) -> CallTree:
    return call_tree([label for label, _ in spans], [parent for _, parent in spans])[1]


def call_tree(labels: Sequence[SpanLabel], parents: Sequence[int]) -> tuple[SpanLabel, CallTree]:
    reading = CallReader(labels).read(range(len(labels)), parents)
    return labels[reading.entry], reading.tree


def calls_in_order(labels: Sequence[SpanLabel], parents: Sequence[int]) -> tuple[tuple[str, CallTree], ...]:
    return CallReader(labels).calls_in_order(range(len(labels)), parents)


def shown(tree: CallTree) -> str:
    """`frontend/GET /(cart/GetCart! redis/GET) ?ad/GetAds`: a failed call is marked, and one of an unknown caller."""
    inside = " ".join(shown(call) for call in tree.calls)
    beside = "".join(f" ?{shown(orphan)}" for orphan in tree.orphans)
    return f"{tree.point}{'!' * tree.failed}{f'({inside})' if inside else ''}{beside}"


def test_client_and_server_halves_are_one_call() -> None:
    tree = read((PAGE, ROOT), (client("frontend", "GetCart"), 0), (server("cart", "GetCart"), 1))

    assert shown(tree) == "frontend/GET /(cart/GetCart)"
    assert tree.calls[0].component is Component.RPC
    assert tree.calls[0].framework == "grpc"


def test_a_call_shows_by_either_half_alone() -> None:
    peer = SpanLabel("frontend", "pay", SpanKind.CLIENT, http_method="POST", url_path="/charge", peer="bank")

    assert shown(read((PAGE, ROOT), (server("cart", "GetCart"), 0))) == "frontend/GET /(cart/GetCart)"
    assert shown(read((PAGE, ROOT), (peer, 0))) == "frontend/GET /(bank/POST /charge)"
    assert shown(read((PAGE, ROOT), (client("frontend", "GetCart"), 0))) == "frontend/GET /(unknown(frontend)/GetCart)"


def test_sidecars_on_both_sides_add_no_calls_even_if_all_say_that_they_are_clients() -> None:
    def proxy(service: str) -> SpanLabel:
        return SpanLabel(service, "reviews:9080/*", SpanKind.CLIENT, http_method="GET", url_path="/reviews/*")

    tree = read((PAGE, ROOT), (proxy("frontend"), 0), (proxy("reviews"), 1), (SpanLabel("reviews", "app"), 2))

    assert shown(tree) == "frontend/GET /(reviews/GET /reviews/*)"


def test_spans_inside_a_service_only_connect_calls() -> None:
    tree = read(
        (PAGE, ROOT),
        (SpanLabel("frontend", "render"), 0),
        (SpanLabel("frontend", "load"), 1),
        (SpanLabel("cart", "shop.cart/GetCart", rpc_method="shop.cart/GetCart"), 2),
    )

    assert shown(tree) == "frontend/GET /(cart/GetCart)"


def test_data_stores_are_called_by_what_is_done_to_them() -> None:
    query = SpanLabel(
        "cart", "query", SpanKind.CLIENT, db_system="postgresql", db_operation="SELECT", db_collection="x"
    )
    cached = SpanLabel(
        "cart", "GET", SpanKind.CLIENT, error=True, db_system="Redis", db_operation="GET", peer="sessions"
    )
    tree = read((server("cart", "GetCart"), ROOT), (query, 0), (cached, 0))

    assert shown(tree) == "cart/GetCart(postgresql(cart)/SELECT x sessions/GET!)"
    assert [(call.component, call.framework) for call in tree.calls] == [
        (Component.DATABASE, "postgresql"),
        (Component.CACHE, "redis"),
    ]


def test_a_queue_calls_its_consumer() -> None:
    publish = SpanLabel("shop", "send", SpanKind.PRODUCER, messaging_system="kafka", messaging_destination="orders")
    consume = SpanLabel("email", "process orders", SpanKind.CONSUMER, messaging_system="kafka")
    tree = read((PAGE, ROOT), (SpanLabel("shop", "Buy", SpanKind.SERVER), 0), (publish, 1), (consume, 2))

    assert shown(tree) == "frontend/GET /(shop/Buy(kafka/publish orders(email/process orders)))"


def test_a_service_may_call_itself() -> None:
    tree = read((server("geo", "Find"), ROOT), (client("geo", "Find"), 0), (server("geo", "Find"), 1))

    assert shown(tree) == "geo/Find(geo/Find)"


def test_each_attempt_is_a_call_and_the_caller_saw_the_last() -> None:
    attempts = (
        (client("frontend", "GetCart"), 0),
        (server("cart", "GetCart", error=True), 1),
        (server("cart", "GetCart"), 1),
    )

    assert shown(read((PAGE, ROOT), *attempts)) == "frontend/GET /(cart/GetCart cart/GetCart!)"


def test_a_call_that_only_its_client_saw_fail_has_failed() -> None:
    tree = read((PAGE, ROOT), (client("frontend", "GetCart", error=True), 0), (server("cart", "GetCart"), 1))

    assert shown(tree) == "frontend/GET /(cart/GetCart!)"


def test_what_the_server_does_not_tell_its_client_does() -> None:
    bare = SpanLabel("station", "handle", SpanKind.SERVER, http_route="/stations/{id}")
    asking = SpanLabel("frontend", "HTTP GET", SpanKind.CLIENT, http_method="GET")

    assert shown(read((PAGE, ROOT), (asking, 0), (bare, 1))) == "frontend/GET /(station/GET /stations/*)"


def test_load_generators_and_gateways_that_pass_on_are_not_the_request() -> None:
    driver = SpanLabel("locust", "GET", SpanKind.CLIENT, http_method="GET", url_path="/")
    entry, tree = call_tree([driver, PAGE, server("cart", "GetCart")], [ROOT, 0, 1])

    assert entry == PAGE
    assert shown(tree) == "frontend/GET /(cart/GetCart)"


def test_a_remote_parent_does_not_hide_the_entry() -> None:
    entry, _ = call_tree([server("cart", "GetCart"), PAGE], [LOST, LOST])

    assert entry.service == "cart"
    assert call_tree([server("cart", "GetCart"), PAGE], [LOST, ROOT])[0] == PAGE


def test_a_call_whose_parent_is_lost_has_an_unknown_caller() -> None:
    tree = read((PAGE, ROOT), (server("cart", "GetCart"), LOST), (client("cart", "Load"), 1), (server("db", "Load"), 2))

    assert shown(tree) == "frontend/GET / ?cart/GetCart(db/Load)"
    assert [(str(caller.point), str(callee.point)) for caller, callee in tree.edges()] == [("cart/GetCart", "db/Load")]
    assert sorted(str(callee.point) for callee in tree.callees()) == ["cart/GetCart", "db/Load"]
    assert calls_in_order([PAGE, server("cart", "GetCart")], [ROOT, LOST])[0][0] == ""


def test_the_meshs_own_calls_are_left_out() -> None:
    check = SpanLabel("frontend", "async outbound|9091||istio-policy.istio-system.svc egress", SpanKind.CLIENT)
    mixer = SpanLabel("istio-mixer", "/istio.mixer.v1.Mixer/Check", SpanKind.SERVER)

    assert shown(read((PAGE, ROOT), (check, 0), (mixer, 1), (mixer, 2))) == "frontend/GET /"


def test_calls_are_told_in_the_order_in_which_they_began() -> None:
    labels = [PAGE, client("frontend", "Z"), server("z", "Z"), client("z", "A"), client("frontend", "A")]

    ordered = calls_in_order(labels, [ROOT, 0, 1, 2, 0])

    assert [(caller, str(call.point)) for caller, call in ordered] == [
        ("frontend", "z/Z"),
        ("z", "unknown(z)/A"),
        ("frontend", "unknown(frontend)/A"),
    ]


def test_calls_nested_beyond_reason_are_kept_without_exhausting_the_stack() -> None:
    deep = 5000
    tree = call_tree([server(f"s{number}", "Call") for number in range(deep)], [ROOT, *range(deep - 1)])[1]

    assert sum(1 for _ in tree.walk()) == deep
    assert hash(tree) == hash(tree)
    depth = 0
    while tree.calls:
        tree = max(tree.calls, key=lambda call: len(call.calls))
        depth += 1
    assert depth <= MAX_DEPTH


def http(service: str, status: str, *, kind: SpanKind = SpanKind.CLIENT, error: bool = True) -> SpanLabel:
    return SpanLabel(service, "GET", kind, error, http_method="GET", url_path="/user", http_status=status, peer="users")


@pytest.mark.parametrize(
    ("status", "failed"), [("404", False), ("409", False), ("403", True), ("429", True), ("503", True)]
)
def test_answers_about_what_was_asked_for_are_no_failures(status: str, failed: bool) -> None:
    assert read((PAGE, ROOT), (http("frontend", status), 0)).calls[0].failed is failed


@pytest.mark.parametrize(("status", "failed"), [("NOT_FOUND", False), ("UNAVAILABLE", True), ("CANCELLED", True)])
def test_so_are_those_of_grpc(status: str, failed: bool) -> None:
    asked = SpanLabel("frontend", "x", SpanKind.CLIENT, error=True, rpc_method="a.B/C", rpc_status=status)

    assert read((PAGE, ROOT), (asked, 0)).calls[0].failed is failed


def test_a_client_that_states_what_it_got_is_believed() -> None:
    server_failed = http("users", "500", kind=SpanKind.SERVER)

    assert not read((PAGE, ROOT), (http("frontend", "200", error=False), 0), (server_failed, 1)).calls[0].failed
    assert read((PAGE, ROOT), (http("frontend", "", error=False), 0), (server_failed, 1)).calls[0].failed


def test_a_request_that_its_driver_saw_fail_has_failed() -> None:
    driver = SpanLabel("locust", "GET", SpanKind.CLIENT, error=True, http_method="GET", url_path="/")
    lookup = SpanLabel("locust", "dns")

    assert shown(read((driver, ROOT), (lookup, 0), (PAGE, 0))) == "frontend/GET /!"


def test_a_lost_caller_makes_no_call_out_of_its_own_client() -> None:
    lost = client("cart", "Store")
    tree = read((PAGE, ROOT), (server("cart", "GetCart"), 0), (lost, LOST), (server("store", "Store"), 2))

    assert shown(tree) == "frontend/GET /(cart/GetCart(store/Store))"  # cart was at work once: it was its call
    assert (
        shown(read((PAGE, ROOT), (SpanLabel("cart", "compute"), LOST), (lost, 1)))
        == "frontend/GET / ?cart/unknown(unknown(cart)/Store)"
    )


@pytest.mark.parametrize(
    ("labels", "parents", "whole", "headless"),
    [
        ([PAGE, server("cart", "Get")], [ROOT, 0], True, False),
        ([PAGE, server("cart", "Get")], [LOST, 0], True, False),  # called from outside
        ([PAGE, server("cart", "Get")], [ROOT, LOST], False, False),
        ([server("cart", "Get"), server("ad", "Get")], [LOST, LOST], False, True),
        ([client("cart", "Get")], [LOST], False, True),
        ([PAGE, SpanLabel("istio-mixer", "x")], [ROOT, LOST], True, False),
    ],
)
def test_a_trace_of_which_parts_are_missing_says_so(
    labels: list[SpanLabel], parents: list[int], whole: bool, headless: bool
) -> None:
    reading = CallReader(labels).read(range(len(labels)), parents)

    assert (reading.whole, reading.headless) == (whole, headless)


@pytest.mark.parametrize("service", ["", "unknown_service"])
def test_a_span_without_a_service_belongs_to_what_it_is_in(service: str) -> None:
    nameless = SpanLabel(service, "callback")

    assert shown(read((PAGE, ROOT), (nameless, 0), (server("cart", "Get"), 1))) == "frontend/GET /(cart/Get)"


def test_the_client_inside_a_librarys_span_knows_whom_it_calls() -> None:
    library = SpanLabel("frontend", "S3.GetObject", SpanKind.CLIENT)
    inner = SpanLabel("frontend", "GET", SpanKind.CLIENT, http_method="GET", url_path="/bucket", peer="s3")

    assert shown(read((PAGE, ROOT), (library, 0), (inner, 1))) == "frontend/GET /(s3/GET /bucket)"


def test_a_reader_learns_who_answers_to_what_clients_say() -> None:
    labels = [PAGE, replace(client("frontend", "GetCart"), peer="cart.default"), server("cart", "GetCart")]
    reader = CallReader(labels)
    reader.read(range(3), [ROOT, 0, 1])

    assert reader.answers == {
        (Point("frontend", "GET /"), Point("cart.default", "GetCart")): {Point("cart", "GetCart")}
    }


LABELS = st.builds(
    SpanLabel,
    service=st.sampled_from(["a", "b", "c", "istio-mixer", ""]),
    name=st.sampled_from(["x", "y", ""]),
    kind=st.sampled_from(SpanKind),
    error=st.booleans(),
    db_system=st.sampled_from(["", "redis"]),
)


@st.composite
def traces(draw: st.DrawFn) -> tuple[list[SpanLabel], list[int]]:
    labels = draw(st.lists(LABELS, min_size=1, max_size=12))
    return labels, draw(st.lists(st.integers(-2, len(labels) - 1), min_size=len(labels), max_size=len(labels)))


@given(traces())
def test_any_trace_can_be_read_also_one_with_cycles(trace: tuple[list[SpanLabel], list[int]]) -> None:
    labels, parents = trace
    entry, tree = call_tree(labels, parents)

    assert entry in labels
    assert sum(1 for _ in tree.callees()) < len(labels)
    assert len(calls_in_order(labels, parents)) == sum(1 for _ in tree.callees())


@given(traces(), st.randoms(use_true_random=False))
def test_the_tree_does_not_depend_on_the_order_of_siblings(
    trace: tuple[list[SpanLabel], list[int]], rng: random.Random
) -> None:
    labels = trace[0]
    parents = [ROOT, *(rng.randrange(position) for position in range(1, len(labels)))]
    # Retried attempts do depend on the order: the last is what the caller saw.
    labels = [SpanLabel(label.service, label.name, SpanKind.SERVER, label.error) for label in labels]
    order = [0]
    waiting = [position for position in range(1, len(labels)) if parents[position] == 0]
    while waiting:
        position = waiting.pop(rng.randrange(len(waiting)))
        order.append(position)
        waiting.extend(child for child in range(len(labels)) if parents[child] == position)
    place = {position: number for number, position in enumerate(order)}
    moved = [ROOT if parents[position] == ROOT else place[parents[position]] for position in order]

    assert call_tree([labels[position] for position in order], moved) == call_tree(labels, parents)


@given(st.lists(traces(), min_size=1, max_size=4))
def test_a_reader_of_many_traces_reads_each_as_if_it_were_alone(
    many: list[tuple[list[SpanLabel], list[int]]],
) -> None:
    labels = sorted({label for trace, _ in many for label in trace})
    reader = CallReader(labels)

    for trace, parents in many * 2:
        reading = reader.read([labels.index(label) for label in trace], parents)
        assert (labels[reading.entry], reading.tree) == call_tree(trace, parents)


def sidecar(service: str, kind: SpanKind, path: str = "/x", peer: str = "") -> SpanLabel:
    return SpanLabel(service, "ingress", kind, http_method="GET", url_path=path, peer=peer, sidecar="true")


def test_a_sidecar_speaks_for_its_service_whatever_that_calls_itself() -> None:
    """As Istio and applications tell of one call: four halves, two names for each service."""
    own = SpanLabel("the-shop", "handle", SpanKind.SERVER, http_method="GET", http_route="/orders/{id}")
    tree = read(
        (sidecar("web.prod", SpanKind.SERVER, "/"), ROOT),
        (SpanLabel("the-web", "GET", SpanKind.SERVER), 0),
        (SpanLabel("the-web", "load"), 1),
        (SpanLabel("the-web", "GET", SpanKind.CLIENT, http_method="GET"), 2),
        (sidecar("web.prod", SpanKind.CLIENT, "/orders/*", peer="shop"), 3),
        (sidecar("shop.prod", SpanKind.SERVER, "/orders/*"), 4),
        (own, 5),
        (SpanLabel("the-shop", "query", SpanKind.CLIENT, db_system="mysql", db_operation="SELECT"), 6),
    )

    assert shown(tree) == "web.prod/GET /(shop.prod/GET /orders/*(mysql(shop.prod)/SELECT))"


def test_what_a_service_beside_a_sidecar_calls_is_not_the_service() -> None:
    """The first span that the application has may be that of a call."""
    called = SpanLabel("the-web", "GET", SpanKind.CLIENT, http_method="GET", url_path="/pay", peer="bank")

    assert shown(read((sidecar("web", SpanKind.SERVER, "/"), ROOT), (called, 0))) == "web/GET /(bank/GET /pay)"


def test_sidecars_alone_tell_of_a_service_that_calls_itself() -> None:
    inbound = sidecar("geo", SpanKind.SERVER)

    assert shown(read((inbound, ROOT), (inbound, 0))) == "geo/GET /x(geo/GET /x)"


def test_a_gateway_is_no_sidecar_of_whom_it_calls() -> None:
    gateway = SpanLabel("edge", "ingress", SpanKind.SERVER, http_method="GET", url_path="/")

    assert shown(read((gateway, ROOT), (server("cart", "GetCart"), 0))) == "edge/GET /(cart/GetCart)"


def test_a_reader_learns_what_sidecars_call_services() -> None:
    labels = [sidecar("cart", SpanKind.SERVER), SpanLabel("the-cart", "x"), sidecar("cart.out", SpanKind.CLIENT)]
    reader = CallReader(labels)
    reader.read(range(2), [ROOT, 0])
    reader.read([1, 2], [ROOT, 0])

    assert reader.aliases == {"the-cart": {"cart", "cart.out"}}
