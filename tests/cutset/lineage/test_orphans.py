from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from cutset.lineage.call_tree import CallReader
from cutset.lineage.orphans import placed
from cutset.model.call_tree import CallTree
from cutset.model.shape import LOST, ROOT
from cutset.model.span import SpanKind, SpanLabel

PAGE = SpanLabel("web", "GET /", SpanKind.SERVER, http_method="GET", http_route="/")
ORDER = SpanLabel("shop", "POST /orders", SpanKind.SERVER, http_method="POST", http_route="/orders")


def server(service: str, method: str, peer: str = "") -> SpanLabel:
    return SpanLabel(service, method, SpanKind.SERVER, rpc_system="grpc", rpc_method=f"a.B/{method}", peer=peer)


def client(service: str, method: str, peer: str = "") -> SpanLabel:
    return SpanLabel(service, method, SpanKind.CLIENT, rpc_system="grpc", rpc_method=f"a.B/{method}", peer=peer)


def edges(*spans: tuple[SpanLabel, int]) -> list[str]:
    return [f"{caller.point}>{callee.point}" for caller, callee in tree(*spans).edges()]


def tree(*spans: tuple[SpanLabel, int]) -> CallTree:
    return reading(*spans).tree


def reading(*spans: tuple[SpanLabel, int]):
    labels = [label for label, _ in spans]
    return CallReader(labels).read(range(len(labels)), [parent for _, parent in spans])


def test_a_half_without_a_parent_is_joined_with_the_other_half() -> None:
    for parent in (ROOT, LOST):
        found = reading((PAGE, ROOT), (client("web", "GetCart"), 0), (server("cart", "GetCart"), parent))

        assert [str(callee.point) for _, callee in found.tree.edges()] == ["cart/GetCart"]
        assert (found.whole, found.joined, found.tree.orphans) == (True, 1, ())


def test_halves_are_joined_by_whom_the_client_called_where_it_says_nothing_else() -> None:
    asked = SpanLabel("web", "HTTP GET", SpanKind.CLIENT, http_method="GET", peer="cart.shop")
    answered = SpanLabel("cart", "GET /items", SpanKind.SERVER, http_method="GET", http_route="/items")

    assert edges((PAGE, ROOT), (asked, 0), (answered, ROOT)) == ["web/GET />cart/GET /items"]


def test_halves_are_joined_by_the_names_of_spans_where_these_tell_something() -> None:
    def named(service: str, kind: SpanKind, name: str) -> SpanLabel:
        return SpanLabel(service, name, kind)

    for name, joined in (("/user.User/CheckUser", True), ("get_user", True), ("HTTP GET", False), ("post", False)):
        asked, answered = named("web", SpanKind.CLIENT, name), named("user", SpanKind.SERVER, name)
        assert bool(edges((PAGE, ROOT), (asked, 0), (answered, ROOT))[0].startswith("web/GET />user/")) is joined


def test_an_api_that_two_services_answer_does_not_tell_which_was_called() -> None:
    found = tree(
        (PAGE, ROOT), (client("web", "Check"), 0), (server("cart", "Check"), LOST), (server("ad", "Check"), LOST)
    )
    assert sorted(str(orphan.point) for orphan in found.orphans) == ["ad/Check", "cart/Check"]

    found = tree(
        (PAGE, ROOT), (client("web", "Check", "ad"), 0), (server("cart", "Check"), LOST), (server("ad", "Check"), LOST)
    )
    assert [str(orphan.point) for orphan in found.orphans] == ["cart/Check"]


def test_halves_that_differ_are_not_joined() -> None:
    for asked in (client("web", "Empty"), client("web", "Empty", "cart"), client("web", "GetCart", "shop")):
        found = reading((PAGE, ROOT), (ORDER, 0), (asked, 0), (server("cart", "GetCart"), LOST))

        assert [str(orphan.point) for orphan in found.tree.orphans] == ["cart/GetCart"]
        assert (found.whole, found.joined) == (False, 0)


def test_a_call_that_was_answered_already_is_no_half() -> None:
    spans = (
        (PAGE, ROOT),
        (client("web", "GetCart"), 0),
        (server("cart", "GetCart"), 1),
        (server("cart", "GetCart"), LOST),
    )

    assert [str(orphan.point) for orphan in tree(*spans).orphans] == ["cart/GetCart"]


def test_several_calls_of_one_execution_are_each_joined() -> None:
    asked, answered = client("web", "GetCart"), server("cart", "GetCart")
    found = reading((PAGE, ROOT), (asked, 0), (answered, ROOT), (asked, 0), (answered, ROOT))

    assert [str(callee.point) for _, callee in found.tree.edges()] == ["cart/GetCart"] * 2
    assert (found.whole, found.joined) == (True, 2)


def test_which_of_two_callers_it_was_is_not_guessed() -> None:
    spans = ((PAGE, ROOT), (ORDER, 0), (client("web", "GetCart"), 0), (client("shop", "GetCart"), 1))

    found = tree(*spans, (server("cart", "GetCart"), LOST))
    assert [str(orphan.point) for orphan in found.orphans] == ["cart/GetCart"]
    assert "web/GET />cart/GetCart" in edges(
        *spans[:2], (client("web", "GetCart", "cart"), 0), spans[3], (server("cart", "GetCart"), LOST)
    )


def test_an_answer_does_not_begin_before_its_call_unless_two_things_prove_it() -> None:
    assert tree((PAGE, ROOT), (server("cart", "GetCart"), LOST), (client("web", "GetCart"), 0)).orphans
    assert not tree((PAGE, ROOT), (server("cart", "GetCart"), LOST), (client("web", "GetCart", "cart"), 0)).orphans


def test_a_message_is_joined_by_its_topic() -> None:
    sent = SpanLabel("web", "send", SpanKind.PRODUCER, messaging_system="kafka", messaging_destination="orders")
    received = SpanLabel("email", "poll", SpanKind.CONSUMER, messaging_system="kafka", messaging_destination="orders")

    assert edges((PAGE, ROOT), (sent, 0), (received, ROOT)) == [
        "web/GET />kafka/publish orders",
        "kafka/publish orders>email/process orders",
    ]


def test_a_server_that_names_its_caller_is_believed_if_that_is_at_work() -> None:
    assert edges((PAGE, ROOT), (server("cart", "GetCart", peer="web"), LOST)) == ["web/GET />cart/GetCart"]
    assert tree((PAGE, ROOT), (server("cart", "GetCart", peer="cart.example.com"), LOST)).orphans
    assert tree((PAGE, ROOT), (server("cart", "GetCart", peer="cart"), LOST)).orphans


def test_a_caller_that_was_at_work_twice_is_known_and_what_it_did_then_is_not() -> None:
    spans = ((PAGE, ROOT), (ORDER, 0), (server("shop", "Pay"), 0), (server("cart", "GetCart", peer="shop"), LOST))

    assert edges(*spans)[-1] == "shop/unknown>cart/GetCart"


def test_inner_work_belongs_to_its_service() -> None:
    query = SpanLabel("shop", "query", SpanKind.CLIENT, db_system="mysql", db_operation="SELECT", peer="db")

    assert edges((PAGE, ROOT), (ORDER, 0), (query, LOST))[-1] == "shop/POST /orders>db/SELECT"
    assert edges((PAGE, ROOT), (ORDER, 0), (ORDER, 0), (query, LOST))[-1] == "shop/unknown>db/SELECT"
    assert edges((PAGE, ROOT), (query, LOST), (query, LOST)) == ["shop/unknown>db/SELECT"] * 2


LABELS = st.builds(
    SpanLabel,
    service=st.sampled_from(["a", "b", "c"]),
    name=st.sampled_from(["x", "y"]),
    kind=st.sampled_from(SpanKind),
    peer=st.sampled_from(["", "a", "b"]),
)


@st.composite
def traces(draw: st.DrawFn) -> tuple[list[SpanLabel], list[int]]:
    labels = draw(st.lists(LABELS, min_size=1, max_size=10))
    parents = [draw(st.sampled_from([ROOT, LOST, *range(len(labels))])) for _ in labels]
    return labels, parents


@given(traces())
def test_nothing_but_orphans_is_placed_and_no_circle_is_made(trace: tuple[Sequence[SpanLabel], list[int]]) -> None:
    labels, parents = trace
    found = placed(labels, parents, 0, ())

    changed = [at for at, above in enumerate(found.parents) if above != parents[at]]
    assert len(changed) == found.halves + found.inferred
    for at in changed:
        assert parents[at] < 0
        above, steps = at, 0
        while above >= 0 and steps <= len(labels):
            above, steps = found.parents[above], steps + 1
        in_circle_before = _ends(found.parents[at], parents) is None
        assert above < 0 or in_circle_before


def _ends(at: int, parents: Sequence[int]) -> int | None:
    for _ in range(len(parents) + 1):
        if at < 0:
            return at
        at = parents[at]
    return None


def test_a_system_whose_servers_all_lose_their_parents_is_put_together_again() -> None:
    """As some SDKs have it: clients know their parents, servers know the trace alone."""
    cart = server("cart", "GetCart")
    found = reading(
        (PAGE, ROOT),
        (client("web", "GetCart"), 0),
        (cart, ROOT),
        (client("web", "Buy"), 0),
        (server("shop", "Buy"), ROOT),
        (client("shop", "GetCart"), 4),
        (cart, ROOT),
        (client("cart", "Load"), 6),
        (server("stock", "Load"), ROOT),
    )

    assert (found.whole, found.joined, found.tree.orphans) == (True, 4, ())
    assert sorted(f"{caller.point}>{callee.point}" for caller, callee in found.tree.edges()) == [
        "cart/GetCart>stock/Load",
        "shop/Buy>cart/GetCart",
        "web/GET />cart/GetCart",
        "web/GET />shop/Buy",
    ]
