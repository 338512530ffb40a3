from cutset.model.call_tree import CallTree, Component
from cutset.model.point import Point
from cutset.select.workflows import CriticalWorkflows, Workflow, critical_workflows


def call(name: str, *calls: CallTree, failed: bool = False, component: Component = Component.RPC) -> CallTree:
    return CallTree(Point(*name.split("/", 1)), failed, component, tuple(sorted(calls)))


LIST_PRODUCTS = call("catalog/ListProducts")
GET_PRODUCT = call("catalog/GetProduct")
RECOMMENDATIONS = call("recommendation/ListRecommendations", LIST_PRODUCTS)
GET_CART = call("cart/GetCart", call("redis/HGET", component=Component.CACHE))
CONVERT = call("currency/Convert")

HOME = call("frontend/GET /", LIST_PRODUCTS, GET_CART, CONVERT, CONVERT, CONVERT)
PRODUCT = call("frontend/GET /product", GET_PRODUCT, GET_CART, CONVERT, RECOMMENDATIONS)
CART = call("frontend/GET /cart", GET_CART, RECOMMENDATIONS)
SET_CURRENCY = call("frontend/POST /setCurrency")
SHOP = [(HOME, 40), (PRODUCT, 45), (CART, 10), (SET_CURRENCY, 5)]


def lines(found: CriticalWorkflows) -> list[str]:
    return [f"{flow.traces}: {', '.join(map(str, flow.calls))}" for flow in found.workflows]


def test_finds_what_traces_have_in_common_the_most_frequent_first() -> None:
    called_by_product = [
        Point("cart", "GetCart", "frontend"),
        Point("catalog", "GetProduct", "frontend"),
        Point("catalog", "ListProducts", "recommendation"),
        Point("currency", "Convert", "frontend"),
        Point("recommendation", "ListRecommendations", "frontend"),
    ]

    found = critical_workflows(SHOP, stores=False)

    assert lines(found) == [
        "95: frontend>cart/GetCart",
        "85: frontend>cart/GetCart, frontend>currency/Convert",
        "55: frontend>cart/GetCart, recommendation>catalog/ListProducts, frontend>recommendation/ListRecommendations",
        f"45: {', '.join(map(str, called_by_product))}",
        "40: frontend>cart/GetCart, frontend>catalog/ListProducts, frontend>currency/Convert",
    ]
    assert (found.traces, found.complete_from, found.stopped) == (100, 1, False)


def test_a_workflow_has_the_services_the_calls_with_their_callers_and_its_share_of_the_traces() -> None:
    found = critical_workflows(SHOP)

    assert found.workflows[0] == Workflow(
        ("cart", "frontend", "redis"), (Point("cart", "GetCart", "frontend"), Point("redis", "HGET", "cart")), 95, 0.95
    )


def test_between_two_services_the_most_common_workflow_is_the_most_common_call() -> None:
    found = critical_workflows(SHOP, max_services=2, min_traces=50, stores=False)

    assert lines(found) == [
        "95: frontend>cart/GetCart",
        "85: frontend>currency/Convert",
        "55: recommendation>catalog/ListProducts",
        "55: frontend>recommendation/ListRecommendations",
    ]


def test_overlapping_workflows_are_all_connected_sets_of_calls() -> None:
    calls = [call("b/1"), call("b/2"), call("c/3")]

    found = critical_workflows([(call("a/", *calls), 7)], overlapping=True)

    assert [len(flow.calls) for flow in found.workflows] == [3, 2, 2, 2, 1, 1, 1]
    assert {flow.traces for flow in found.workflows} == {7}
    assert [len(flow.services) for flow in found.workflows] == [3, 3, 3, 2, 2, 2, 2]


def test_closed_workflows_within_a_size_take_in_all_calls_between_their_services() -> None:
    found = critical_workflows([(call("a/", call("b/1"), call("b/2"), call("c/3")), 7)], max_services=2)

    assert lines(found) == ["7: a>b/1, a>b/2", "7: a>c/3"]


def test_support_is_counted_in_traces_and_calls_of_a_trace_once() -> None:
    once, often, failed = (
        call("a/", call("b/Get")),
        call("a/", *[call("b/Get")] * 9),
        call("a/", call("b/Get", failed=True)),
    )

    assert lines(critical_workflows([(once, 2), (often, 3), (failed, 4)])) == ["9: a>b/Get"]


def test_rare_workflows_are_left_out_by_number_or_by_share_of_traces() -> None:
    kinds = [(call("a/", call("b/Get")), 93), (call("a/", call("c/Get")), 7)]

    assert len(critical_workflows(kinds, min_share=0.07).workflows) == 2
    assert len(critical_workflows(kinds, min_share=0.071).workflows) == 1
    assert len(critical_workflows(kinds, min_traces=7).workflows) == 2
    assert len(critical_workflows(kinds, min_traces=8).workflows) == 1


def test_a_workflow_that_only_calls_front_ends_is_left_out() -> None:
    redirected = call("gateway/", call("gateway/retry"), call("frontend/GET /", call("cart/GetCart")))
    health = call("gateway/", call("frontend/health"))
    kinds = [(redirected, 3), (health, 4)]

    assert lines(critical_workflows(kinds, min_services=1)) == [
        "4: gateway>frontend/health",
        "3: frontend>cart/GetCart, gateway>frontend/GET /, gateway>gateway/retry",
    ]
    assert lines(critical_workflows(kinds, min_services=1, front_ends=["frontend"])) == [
        "3: frontend>cart/GetCart, gateway>frontend/GET /, gateway>gateway/retry"
    ]


def test_a_front_end_that_calls_itself_is_still_one() -> None:
    assert lines(critical_workflows([(call("gateway/", call("gateway/retry")), 3)], min_services=1)) == []


def test_a_service_that_is_an_entry_for_some_requests_only_is_no_front_end() -> None:
    kinds = [(call("frontend/", call("cart/GetCart")), 3), (call("cart/Cleanup"), 1)]

    assert lines(critical_workflows(kinds)) == ["3: frontend>cart/GetCart"]


def test_without_stores_what_a_queue_causes_is_a_workflow_of_its_own() -> None:
    mail = call("mail/OnOrder", call("smtp/Send"))
    order = call("shop/Order", call("payment/Charge"), call("kafka/orders", mail, component=Component.QUEUE))

    assert len(critical_workflows([(order, 1)]).workflows) == 1
    assert lines(critical_workflows([(order, 1)], stores=False)) == ["1: mail>smtp/Send", "1: shop>payment/Charge"]


def test_only_the_top_are_given_whatever_the_order_of_the_traces() -> None:
    everything = critical_workflows(SHOP)

    assert critical_workflows(SHOP[::-1]) == everything
    for top in (1, 2, 3):
        assert critical_workflows(SHOP[::-1], top=top).workflows == everything.workflows[:top]


def test_says_when_there_are_too_many_to_find_all() -> None:
    wide = call("a/", *(call(f"s{number}/Get") for number in range(40)))

    found = critical_workflows([(wide, 1), (SET_CURRENCY, 9), (call("a/", call("s1/Get")), 1)], overlapping=True)

    assert found.stopped
    assert found.complete_from == 2
    assert lines(found)[0] == "2: a>s1/Get"
    assert lines(critical_workflows([(wide, 1)])) == [f"1: {', '.join(sorted(f'a>s{n}/Get' for n in range(40)))}"]


def test_no_traces_and_traces_without_calls_have_no_workflows() -> None:
    assert critical_workflows([]) == CriticalWorkflows((), 0, 1, stopped=False)
    assert critical_workflows([(SET_CURRENCY, 3)], min_services=1) == CriticalWorkflows((), 3, 1, stopped=False)
