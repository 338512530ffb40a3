from tests.samples.agent_traces import agent_call, serving
from tests.samples.trace_builder import ROOT, Made, trace

from cutset.lineage.culprits import culprits_of
from cutset.model.point import Point


def test_where_nothing_failed_nobody_is_to_blame() -> None:
    assert culprits_of(trace(Made("a/A", [Made("b/B")], failed_attempts=1)), ROOT) == frozenset()


def test_of_calls_that_failed_one_inside_the_other_the_innermost_is_to_blame() -> None:
    spans = trace(Made("a/A", [Made("b/B", [Made("c/C", status=13)], status=13), Made("d/D")], status=13))

    assert culprits_of(spans, ROOT) == {Point("c", "C")}


def test_what_was_injected_and_what_it_brought_about_is_nobodys_own_failure() -> None:
    spans = trace(Made("a/A", [Made("b/B", status=14, flags="FI")], status=13), Made("c/C", status=13))

    assert culprits_of(spans, ROOT) == {Point("c", "C")}


def test_who_fails_of_an_answer_that_was_spoilt_or_late_is_not_to_blame() -> None:
    spans = trace(
        Made("a/A", [Made("b/B", spoilt="garbled")], status=13),
        Made("c/C", [Made("d/D", flags="DI")], status=13),
        Made("e/E", [Made("f/F", spoilt="nothing")], status=13),
    )

    assert culprits_of(spans, ROOT) == {Point("e", "E")}


def test_a_store_that_fails_by_itself_is_to_blame_and_not_who_called_it():
    spans = trace(Made("cart/GetCart", status=13))
    own = serving("cart", spans).span_id
    failing = agent_call("x", own, "cache/redis/get", peer="sessions/0", error=True)
    faulted = agent_call("x", own, "cache/redis/get", peer="sessions/0", error=True, fault="connection-refused")

    assert culprits_of([*spans, failing], ROOT) == {Point.parse("cart>cache/redis/get sessions/0")}
    assert culprits_of([*spans, faulted], ROOT) == frozenset()
