"""What a hook does to the functions of a library, tried on a library of our own."""

import asyncio
import inspect

import pytest
from tests.samples.hooked_library import ENDPOINT, FAULTS, LibraryError, describe, small_library

from cutset_agent import reports
from cutset_agent.calls import HookedCall
from cutset_agent.hooking import wrap


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
        wrap(type(client), name, lambda _args, _kwargs, name=name: HookedCall(f"db/small/{name}"), FAULTS)
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
    assert len(reports.errors) == 3
    spans = installed.spans()
    assert spans[0]["agent_errors"] == "3"
    assert spans[1]["not_fired"] == "broken raised ZeroDivisionError()"
    assert not any("fault" in span for span in spans)


def test_facts_that_cannot_be_told_do_not_harm(installed):
    library = small_library()
    wrap(library.Client, "execute", describe, FAULTS, outcome=lambda result: result.nonsense)
    with installed.request():
        assert library.Client().execute("a") == "a"
    assert sum(reports.errors.values()) == 1


def test_a_payload_that_cannot_be_read_is_left_out(installed):
    library = small_library()
    wrap(library.Client, "execute", lambda _args, _kwargs: HookedCall(ENDPOINT, payload=lambda: 1 / 0), FAULTS)
    with installed.request((ENDPOINT, "connection-refused", {"occurrence": 1})), pytest.raises(LibraryError):
        library.Client().execute("a")
    assert "payload" not in installed.spans(ENDPOINT)[0]
