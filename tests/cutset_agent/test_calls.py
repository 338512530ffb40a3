"""What a fault may do to a call: raise, answer, change the answer, lose it."""

import pytest
from tests.samples.hooked_library import ENDPOINT, LibraryError

from cutset_agent import reports, wire


def test_a_fault_is_raised_in_place_of_the_call(installed, execute, client):
    with installed.request((ENDPOINT, "connection-refused")), pytest.raises(LibraryError, match=r"refused|later"):
        execute("a")
    (span,) = installed.spans(ENDPOINT)
    assert (client.done, span["fault"], span["error"]) == ([], "connection-refused", "true")


def test_a_lost_answer_is_of_a_call_that_was_made(installed, execute, client):
    with installed.request((ENDPOINT, "lost-answer")), pytest.raises(LibraryError, match="lost"):
        execute("a")
    assert client.done == ["a"]
    assert installed.spans(ENDPOINT)[0]["fault"] == "lost-answer"


def test_the_answer_of_a_call_that_fails_by_itself_cannot_be_lost(installed, execute, client):
    with installed.request((ENDPOINT, "lost-answer")), pytest.raises(LibraryError, match="by itself"):
        execute("fail")
    assert "fault" not in installed.spans(ENDPOINT)[0]


def test_a_fault_may_answer_or_change_the_answer(installed, execute, client):
    with installed.request((ENDPOINT, "cache-miss", {"occurrence": 1}), (ENDPOINT, "wrong-body", {"occurrence": 2})):
        assert execute("a") is None
        assert execute("a") == "A"
    assert client.done == ["a"]
    assert [span["fault"] for span in installed.spans(ENDPOINT)] == ["cache-miss", "wrong-body"]


def test_what_makes_no_sense_does_not_fire_and_says_why(installed, execute, client):
    unknown = wire.fault_code("unheard-of")
    with installed.request(
        (ENDPOINT, "read-only", {"occurrence": 1}),
        (ENDPOINT, "timeout", {"occurrence": 2}),
        (ENDPOINT, "unheard-of", {"occurrence": 3}),
    ):
        assert [execute("a") for _ in range(3)] == ["a"] * 3
    assert [span["not_fired"] for span in installed.spans(ENDPOINT)] == [
        "read-only makes no sense for this call",
        "timeout: the call site has no timeout",
        f"L{unknown}o3 is no fault of this endpoint",
    ]
    assert not reports.errors


def test_calls_of_no_interest_are_left_alone(installed, client):
    with installed.request((ENDPOINT, "connection-refused")):
        assert client.execute("boring") == "boring"
    assert installed.spans(ENDPOINT) == []
