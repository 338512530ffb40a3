"""Which call a fault hits, when, and what is reported of it."""

import asyncio
import threading
import time

import pytest
from tests.samples.hooked_library import ENDPOINT, LibraryError

from cutset_agent import recording, steps, wire


def test_a_call_of_a_request_is_reported(installed, execute, client):
    client.timeout = 1.5
    with installed.request() as request:
        assert execute("a", times=2) == "aa"
    span, entry = installed.spans(ENDPOINT)[0], installed.spans()[0]
    assert (span["traceId"], span["parentSpanId"]) == (request.trace_id, request.span_id)
    assert (span["name"], span["kind"], span["status"]) == (ENDPOINT, 3, {})
    facts = {name: span.get(name) for name in ("service", "occurrence", "timeout", "rows", "verb", "payload", "fault")}
    assert facts == {
        "service": "orders",
        "occurrence": "1",
        "timeout": "1.5",
        "rows": "2",
        "verb": "INSERT",
        "payload": "ca978112ca1bbdca",
        "fault": None,
    }
    assert (entry["name"], entry["kind"], entry["http.status_code"]) == ("GET /", 2, "200")


def test_a_status_is_a_fault_too(installed, execute):
    with installed.request((ENDPOINT, wire.WireFault("A", 503, attempts=1))):
        assert execute("a") == 503
        assert execute("a") == "a"


def test_calls_are_counted_from_one_in_each_request(installed, client):
    for _ in range(2):
        with installed.request((ENDPOINT, "connection-refused", {"occurrence": 2})):
            client.execute("a")
            with pytest.raises(LibraryError):
                client.execute("a")
            client.execute("a")
    assert [span["occurrence"] for span in installed.spans(ENDPOINT)] == ["1", "2", "3"] * 2


def test_what_is_said_of_a_peer_counts_before_what_is_said_of_all(installed, execute, client):
    of_peer = ((ENDPOINT, "sessions:6379/0"), "connection-refused", {"occurrence": 2})
    of_all = (ENDPOINT, "cache-miss"), (ENDPOINT, wire.WireFault("D", 1))
    with installed.request(of_peer, *of_all):
        client.peer = "sessions:6379/0"
        assert execute("a") == "a"  # the first one there: it is not for all to say
        client.peer = "prices:6379/0"
        assert execute("a") is None
        client.peer = "sessions:6379/0"
        with pytest.raises(LibraryError):
            execute("a")
        client.peer = ""
        assert execute("a") is None
    found = [(span["occurrence"], span.get("peer_occurrence"), span["fault"]) for span in installed.spans(ENDPOINT)]
    assert found == [
        ("1", "1", "delay(1ms)"),
        ("2", "1", "delay(1ms)+cache-miss"),
        ("3", "2", "delay(1ms)+connection-refused"),
        ("4", None, "delay(1ms)+cache-miss"),
    ]
    assert [span.get("peer") for span in installed.spans(ENDPOINT)][::3] == ["sessions:6379/0", None]


def test_a_share_of_the_calls_can_fail(installed, client):
    with installed.request((ENDPOINT, "connection-refused", {"percent": 50})):
        failed = 0
        for _ in range(400):
            try:
                client.execute("a")
            except LibraryError:
                failed += 1
    assert 100 < failed < 300


def test_calls_from_many_threads_are_counted_apart(installed, client):
    with installed.request() as request:
        threads = [threading.Thread(target=lambda: [client.execute("a") for _ in range(50)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert request.counts[ENDPOINT] == 400
    assert sorted(int(span["occurrence"]) for span in installed.spans(ENDPOINT)) == list(range(1, 401))


def test_a_delay_comes_before_the_call(installed, execute, client):
    delay = (ENDPOINT, wire.WireFault("D", 30))
    with installed.request(delay, (ENDPOINT, "connection-refused")), pytest.raises(LibraryError):
        execute("a")
    (span,) = installed.spans(ENDPOINT)
    assert span["fault"] == "delay(30ms)+connection-refused"
    assert int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]) >= 30_000_000


def test_a_delay_beyond_the_timeout_is_a_timeout(installed, execute, client):
    client.timeout = 0.03
    with installed.request((ENDPOINT, wire.WireFault("D", 3_600_000))), pytest.raises(LibraryError, match="waited"):
        execute("a")
    assert installed.spans(ENDPOINT)[0]["fault"] == "delay(3600000ms)"
    assert client.done == []


def test_no_answer_takes_as_long_as_the_call_site_waits(installed, execute, client):
    client.timeout = 0.03
    with installed.request((ENDPOINT, "no-answer")), pytest.raises(LibraryError, match="waited"):
        execute("a")
    (span,) = installed.spans(ENDPOINT)
    assert span["fault"] == "no-answer"
    assert int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]) >= 30_000_000


def test_no_answer_without_a_timeout_waits_for_good(installed, client):
    with installed.request((ENDPOINT, "no-answer")):
        thread = threading.Thread(target=client.execute, args=("a",), daemon=True)
        thread.start()
        thread.join(0.1)
        assert thread.is_alive()


def test_an_expired_plan_ends_within_the_request(installed, client, monkeypatch):
    with installed.request((ENDPOINT, "connection-refused")):
        with pytest.raises(LibraryError):
            client.execute("a")
        later = time.time() + 3600
        monkeypatch.setattr(time, "time", lambda: later)
        assert client.execute("a") == "a"


def test_faults_of_third_parties_join_those_of_the_hook(installed, client, monkeypatch):
    monkeypatch.setattr(steps, "_added", {})
    steps.add_faults("small", {"gremlin": lambda call, args, kwargs: LibraryError("gremlin")})
    with installed.request((ENDPOINT, "gremlin")), pytest.raises(LibraryError, match="gremlin"):
        client.execute("a")


def test_nested_calls_are_children_of_one_another(installed, client):
    with installed.request():
        asyncio.run(client.execute_later("a"))
    entry, outer, inner = installed.spans()
    assert outer["parentSpanId"] == entry["spanId"]
    assert inner["parentSpanId"] == outer["spanId"]


def test_a_recording_keeps_what_went_out_and_came_back(installed, recorded, client):
    from cutset_agent import request

    entry = request.enter([], "MESSAGE orders", "consumer")
    client.execute("a" * recording.MAX_PAYLOAD_BYTES * 2)
    with pytest.raises(LibraryError):
        client.execute("fail")
    request.leave(entry, exchange={"method": "MESSAGE", "path": "orders"})
    (exchange,) = recorded()
    assert [operation["failed"] for operation in exchange["operations"]] == [False, True]
    assert len(exchange["operations"][0]["request"]) < recording.MAX_PAYLOAD_BYTES * 1.5
    assert exchange["status"] == 200
