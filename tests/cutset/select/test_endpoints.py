import random

from cutset.model.call_tree import CallTree, Component
from cutset.model.point import Point
from cutset.select.endpoints import Endpoint, endpoint_of, endpoints, injection_targets


def rpc(service: str, method: str, framework: str = "grpc") -> CallTree:
    return CallTree(Point(service, method), component=Component.RPC, framework=framework)


def query(text: str) -> CallTree:
    return CallTree(Point("postgresql", text), component=Component.DATABASE, framework="postgresql")


def chosen(representatives: dict[str, list[tuple[str, CallTree]]], services_each: int = 3, seed: int = 0) -> list[str]:
    targets = injection_targets(representatives, services_each=services_each, rng=random.Random(seed))
    return [f"{target.endpoint} {target.point} {target.request_class}" for target in targets]


def test_the_same_method_by_another_framework_is_another_endpoint() -> None:
    assert str(endpoint_of(rpc("user", "Find"))) == "rpc/grpc/user/Find"
    assert str(endpoint_of(rpc("user", "Find", "dubbo"))) == "rpc/dubbo/user/Find"
    assert str(endpoint_of(CallTree(Point("x", "go")))) == "unknown/unknown/x/go"


def test_of_a_data_store_the_operation_is_the_method() -> None:
    assert endpoint_of(query("SELECT users")) == endpoint_of(query("SELECT orders"))


def test_endpoints_are_counted_by_the_service_that_calls_them() -> None:
    tree = CallTree(Point("web", "page"), calls=(query("SELECT a"), query("SELECT b")))

    assert endpoints({tree: 5}) == {(Endpoint(Component.DATABASE, "postgresql", "SELECT"), "web"): 10}


def test_within_a_trace_only_the_last_call_of_an_endpoint_is_a_target() -> None:
    calls = [("cart", query("SELECT a")), ("cart", query("SELECT b")), ("cart", query("SELECT b"))]

    assert chosen({"GET /": calls}) == ["db/postgresql/SELECT cart>postgresql/SELECT b@last GET /"]
    assert chosen({"GET /": calls[:2]}) == ["db/postgresql/SELECT cart>postgresql/SELECT b GET /"]


def test_a_few_services_stand_for_all_that_use_an_endpoint() -> None:
    calls = {"GET /": [(f"service-{number}", query("SELECT a")) for number in range(20)]}

    samples = {tuple(chosen(calls, seed=seed)) for seed in range(10)}
    assert {len(sample) for sample in samples} == {3}
    assert len(samples) > 1
    assert chosen(calls, seed=1) == chosen(calls, seed=1)
    assert len(chosen(calls, services_each=50)) == 20


def test_an_endpoint_is_tested_once_per_service_however_many_requests_use_it() -> None:
    calls = {"GET /": [("cart", rpc("user", "Find"))], "POST /": [("cart", rpc("user", "Find"))]}

    assert chosen(calls) == ["rpc/grpc/user/Find cart>user/Find GET /"]


def test_equal_methods_of_two_services_are_two_endpoints() -> None:
    health = [("web", rpc("user", "Check")), ("web", rpc("cart", "Check"))]

    assert chosen({"GET /": health}) == [
        "rpc/grpc/cart/Check web>cart/Check GET /",
        "rpc/grpc/user/Check web>user/Check GET /",
    ]


def test_an_endpoint_whose_caller_is_unknown_is_used_by_nobody_in_particular() -> None:
    unknown_work = CallTree(Point("ad", "unknown"), calls=(query("SELECT a"),))
    tree = CallTree(Point("web", "page"), orphans=(rpc("user", "Find"), unknown_work))

    assert endpoints({tree: 2}) == {
        (Endpoint(Component.RPC, "grpc", "Find", "user"), ""): 2,
        (Endpoint(Component.DATABASE, "postgresql", "SELECT"), "ad"): 2,
    }
    assert chosen({"GET /": [("", rpc("user", "Find"))]}) == ["rpc/grpc/user/Find user/Find GET /"]
