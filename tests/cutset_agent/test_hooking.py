"""What a hook does to the functions of a library, tried on a library of our own."""

import asyncio
import inspect
import threading
import time
import types

import pytest

from cutset_agent import hooking, recording, wire
from cutset_agent.hooking import AfterCall, Answer, Call, Changed, wrap

ENDPOINT = "db/small/execute"


class LibraryError(Exception):
    pass


def describe(args, kwargs):
    client = args[0]
    if client.describe_fails:
        raise ZeroDivisionError
    return Call(ENDPOINT, client.timeout, lambda: str(args[1]), {"verb": "INSERT"}) if args[1] != "boring" else None


def broken(_call, _args, _kwargs):
    raise ZeroDivisionError


async def break_later(_call, _args, _kwargs):
    raise ZeroDivisionError


async def refuse_later(_call, _args, _kwargs):
    await asyncio.sleep(0)
    return LibraryError("later")


FAULTS = {
    "connection-refused": lambda call, args, kwargs: LibraryError("refused"),
    "timeout": lambda call, args, kwargs: LibraryError("timed out"),
    "no-answer": lambda call, args, kwargs: LibraryError("waited"),
    "lost-answer": lambda call, args, kwargs: AfterCall(LibraryError("lost")),
    "cache-miss": lambda call, args, kwargs: Answer(None),
    "wrong-body": lambda call, args, kwargs: Changed(lambda result: result.upper()),
    "truncated-body": lambda call, args, kwargs: Changed(lambda result: result / 0),
    "read-only": lambda call, args, kwargs: None,
    "status-503": lambda call, args, kwargs: Answer(503),
    "broken": broken,
}
LATER = {**FAULTS, "connection-refused": refuse_later, "broken": break_later}


def small_library():
    """As a library is: functions, methods of all kinds, coroutine functions."""

    class Client:
        timeout = None
        describe_fails = False

        def __init__(self):
            self.done = []

        def execute(self, statement, *, times=1):
            """Does it."""
            self.done.append(statement)
            if statement == "fail":
                raise LibraryError("by itself")
            return statement * times

        async def execute_later(self, statement, *, times=1):
            await asyncio.sleep(0)
            return self.execute(statement, times=times)

        @staticmethod
        def of_no_one(client, statement):
            return client.execute(statement)

        @classmethod
        def of_the_class(cls, client, statement):
            return (cls.__name__, client.execute(statement))

    return types.SimpleNamespace(Client=Client)


@pytest.fixture
def client():
    library = small_library()
    for name, faults in (("execute", FAULTS), ("execute_later", LATER)):
        wrap(
            library.Client,
            name,
            describe,
            faults,
            asynchronous=name == "execute_later",
            outcome=lambda result: {"rows": str(len(str(result)))},
            response=lambda result: result,
        )
    return library.Client()


@pytest.fixture(params=["synchronous", "asynchronous"])
def execute(request, client):
    """The hooked function, called in one way or the other."""
    if request.param == "synchronous":
        return client.execute
    # The inner call is hooked as well: that one does not count here.
    type(client).execute = inspect.unwrap(type(client).execute)
    return lambda *args, **kwargs: asyncio.run(client.execute_later(*args, **kwargs))


def test_a_hooked_function_looks_as_before(client):
    assert str(inspect.signature(type(client).execute)) == "(self, statement, *, times=1)"
    assert type(client).execute.__doc__ == "Does it."
    assert inspect.iscoroutinefunction(type(client).execute_later)
    assert not inspect.iscoroutinefunction(type(client).execute)


def test_hooking_twice_is_hooking_once(client, installed):
    hooked = type(client).execute
    wrap(type(client), "execute", describe, FAULTS)
    assert type(client).execute is hooked


def test_static_and_class_methods_stay_what_they_are(installed):
    client = small_library().Client()
    for name in ("of_no_one", "of_the_class"):
        wrap(type(client), name, lambda _args, _kwargs, name=name: Call(f"db/small/{name}"), FAULTS)
    with installed.request(("db/small/of_the_class", "connection-refused", {"occurrence": 2})):
        assert type(client).of_no_one(client, "a") == "a"
        assert client.of_the_class(client, "b") == ("Client", "b")
        with pytest.raises(LibraryError):
            client.of_the_class(client, "b")


def test_outside_of_requests_nothing_happens(installed, execute, client):
    assert execute("a", times=2) == "aa"
    with pytest.raises(LibraryError, match="by itself"):
        execute("fail")
    assert installed.spans() == []


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


def test_a_status_is_a_fault_too(installed, execute):
    with installed.request((ENDPOINT, wire.WireFault("A", 503, attempts=1))):
        assert execute("a") == 503
        assert execute("a") == "a"


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
    assert not hooking.errors


def test_calls_are_counted_from_one_in_each_request(installed, client):
    for _ in range(2):
        with installed.request((ENDPOINT, "connection-refused", {"occurrence": 2})):
            client.execute("a")
            with pytest.raises(LibraryError):
                client.execute("a")
            client.execute("a")
    assert [span["occurrence"] for span in installed.spans(ENDPOINT)] == ["1", "2", "3"] * 2


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


def test_a_waiting_call_lets_the_loop_run_and_can_be_given_up(installed, client):
    async def main():
        with installed.request((ENDPOINT, "no-answer")), pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.execute_later("a"), 0.03)

    asyncio.run(main())
    (span,) = installed.spans(ENDPOINT)
    assert (span["fault"], span["error"]) == ("no-answer", "true")


def test_errors_of_the_agent_are_swallowed_and_counted(installed, execute, client):
    with installed.request((ENDPOINT, "broken", {"occurrence": 1}), (ENDPOINT, "truncated-body", {"occurrence": 2})):
        assert execute("a") == "a"
        assert execute("a") == "a"
        client.describe_fails = True
        assert execute("a") == "a"
    assert len(hooking.errors) == 3
    spans = installed.spans()
    assert spans[0]["agent_errors"] == "3"
    assert spans[1]["not_fired"] == "broken raised ZeroDivisionError()"
    assert not any("fault" in span for span in spans)


def test_facts_that_cannot_be_told_do_not_harm(installed):
    library = small_library()
    wrap(library.Client, "execute", describe, FAULTS, outcome=lambda result: result.nonsense)
    with installed.request():
        assert library.Client().execute("a") == "a"
    assert sum(hooking.errors.values()) == 1


def test_a_payload_that_cannot_be_read_is_left_out(installed):
    library = small_library()
    wrap(library.Client, "execute", lambda _args, _kwargs: Call(ENDPOINT, payload=lambda: 1 / 0), FAULTS)
    with installed.request((ENDPOINT, "connection-refused", {"occurrence": 1})), pytest.raises(LibraryError):
        library.Client().execute("a")
    assert "payload" not in installed.spans(ENDPOINT)[0]


def test_calls_of_no_interest_are_left_alone(installed, client):
    with installed.request((ENDPOINT, "connection-refused")):
        assert client.execute("boring") == "boring"
    assert installed.spans(ENDPOINT) == []


def test_an_expired_plan_ends_within_the_request(installed, client, monkeypatch):
    with installed.request((ENDPOINT, "connection-refused")):
        with pytest.raises(LibraryError):
            client.execute("a")
        later = time.time() + 3600
        monkeypatch.setattr(time, "time", lambda: later)
        assert client.execute("a") == "a"


def test_faults_of_third_parties_join_those_of_the_hook(installed, client, monkeypatch):
    monkeypatch.setattr(hooking, "_added", {})
    hooking.add_faults("small", {"gremlin": lambda call, args, kwargs: LibraryError("gremlin")})
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


def test_every_fault_that_the_catalogue_knows_is_explained():
    for name, entry in hooking.catalogue().items():
        assert set(entry) == {"what", "incident", "resilient", "needs_timeout"}, name
        assert all(entry[part].endswith(".") for part in ("what", "incident", "resilient")), name
    codes = {wire.fault_code(name) for name in hooking.catalogue()}
    assert len(codes) == len(hooking.catalogue())
