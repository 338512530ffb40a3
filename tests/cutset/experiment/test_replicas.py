from cutset.experiment.replicas import ReplicaNumbers
from cutset.model.fault import cut_of
from cutset.model.point import Point
from cutset.model.span import Span, SpanKind


def span(service: str, replica: str) -> Span:
    attributes = {"cutset.service": service, "cutset.replica": replica}
    return Span("1" * 32, "1" * 16, "", service, "GET /", SpanKind.SERVER, 0, 1, False, attributes)


def replica_of(numbers: ReplicaNumbers, service: str, pod: str) -> object:
    (seen,) = numbers.seen([span(service, pod)])
    return seen.attributes["cutset.replica"]


def test_pods_have_numbers_and_their_successors_get_the_same_ones():
    numbers = ReplicaNumbers()
    numbers.update({"cart": ["cart-b", "cart-a"], "ad": ["ad-a"]})
    assert [replica_of(numbers, "cart", pod) for pod in ("cart-a", "cart-b")] == ["1", "2"]
    assert numbers.counts == {"cart": 2, "ad": 1}

    numbers.update({"cart": ["cart-b", "cart-c"]})
    assert [replica_of(numbers, "cart", pod) for pod in ("cart-c", "cart-b")] == ["1", "2"]
    assert replica_of(numbers, "cart", "cart-a") == "cart-a"  # gone: nobody else is meant by its name

    numbers.update({"cart": ["cart-x", "cart-y", "cart-z"]})
    assert [replica_of(numbers, "cart", pod) for pod in ("cart-x", "cart-y", "cart-z")] == ["1", "2", "3"]
    assert replica_of(numbers, "ad", "ad-a") == "1"


def test_after_a_rollout_in_which_new_pods_came_before_old_ones_went_there_are_as_many_numbers_as_pods():
    numbers = ReplicaNumbers()
    for pods in (["old-a", "old-b"], ["old-a", "old-b", "new-c"], ["old-b", "new-c"], ["old-b", "new-c", "new-d"]):
        numbers.update({"cart": pods})
    numbers.update({"cart": ["new-c", "new-d"]})

    assert {replica_of(numbers, "cart", pod) for pod in ("new-c", "new-d")} == {"1", "2"}


def test_plans_address_pods_by_their_names():
    numbers = ReplicaNumbers()
    numbers.update({"cart": ["cart-a", "cart-b"]})
    second, absent, api = Point("cart", "Get", replica="2"), Point("cart", "Get", replica="3"), Point("cart", "Get")

    assert numbers.planned(cut_of([second, api])) == cut_of([Point("cart", "Get", replica="cart-b"), api])
    assert numbers.planned(cut_of([absent])) == cut_of([absent])
    assert numbers.known([second]) == {Point("cart", "Get", replica="cart-b")}


def test_spans_that_are_not_of_the_mesh_stay_as_they_are():
    numbers = ReplicaNumbers()
    own = Span("1" * 32, "1" * 16, "", "cart", "GET /", SpanKind.SERVER, 0, 1, False, {})
    assert numbers.seen([own]) == (own,)


def test_a_call_that_no_plan_came_with_is_known_by_its_pod():
    numbers = ReplicaNumbers()
    numbers.update({"cart": ["cart-a", "cart-b"]})
    told = Span("1" * 32, "1" * 16, "", "?", "GET /", SpanKind.SERVER, 0, 1, False, {"cutset.pod": "cart-b"})
    (seen,) = numbers.seen([told])
    assert (seen.attributes["cutset.service"], seen.attributes["cutset.replica"]) == ("cart", "2")
