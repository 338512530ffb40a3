"""How far a plan reaches: up to a grace after its request's end, and not into what may be the work of others."""
# ruff: noqa: TID251, ASYNC110 -- tasks that nobody waits for are what this is about

import asyncio
import contextvars
import os
import queue
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from tests import samples
from tests.cutset_agent.conftest import plan_headers
from tests.samples.hooked_library import ENDPOINT, LibraryError
from tests.samples.interpreters import interpreter

from cutset_agent import reach, request

FAULT = (ENDPOINT, "connection-refused")


@pytest.fixture
def fails(client):
    """Whether a call of the present code meets the fault."""

    def call():
        try:
            client.execute("a")
        except LibraryError:
            return True
        return False

    return call


@contextmanager
def other_request():
    entry = contextvars.copy_context().run(request.enter, [], "GET /other")
    try:
        yield
    finally:
        contextvars.copy_context().run(request.leave, entry)


@pytest.fixture(params=["alone", "beside others"])
def is_alone(installed, request):
    if request.param == "alone":
        yield True
        return
    with other_request():
        yield False


def after(seconds, monkeypatch):
    later = time.monotonic() + seconds
    monkeypatch.setattr(time, "monotonic", lambda: later)


def test_what_a_request_started_meets_no_fault_after_the_grace(installed, fails, monkeypatch):
    with installed.request(FAULT):
        started = contextvars.copy_context()
    assert started.run(fails)
    after(reach.GRACE_SECONDS + 0.01, monkeypatch)
    assert not started.run(fails)
    assert started.run(request.outgoing_headers) == {}
    *_, last = installed.spans(ENDPOINT)
    assert (last["not_fired"], last.get("fault")) == (reach.ENDED, None)


def test_of_a_request_that_has_ended_nothing_else_is_reported(installed, client, monkeypatch):
    with installed.request():
        started = contextvars.copy_context()
    after(reach.GRACE_SECONDS + 0.01, monkeypatch)
    started.run(client.execute, "a")
    assert installed.spans(ENDPOINT) == []


def test_a_call_that_waits_for_good_waits_no_longer_than_its_request(installed, client, monkeypatch):
    monkeypatch.setattr(reach, "GRACE_SECONDS", 0.01)
    with installed.request((ENDPOINT, "no-answer")):
        thread = threading.Thread(target=client.execute, args=("a",))
        thread.start()
        thread.join(0.1)
        assert thread.is_alive()
    thread.join(10)
    assert client.done == ["a"]  # as if nothing had been there
    assert installed.spans(ENDPOINT)[0]["fault"] == "no-answer"


AWAITED = {
    "itself": lambda work: work(),
    "await": lambda work: asyncio.create_task(work()),
    "gather": lambda work: asyncio.gather(work(), asyncio.sleep(0)),
    "wait_for": lambda work: asyncio.wait_for(work(), 10),
    "wait": lambda work: asyncio.wait([asyncio.create_task(work())]),
    "shield": lambda work: asyncio.shield(work()),
    "in one another": lambda work: asyncio.gather(asyncio.wait_for(asyncio.create_task(work()), 10)),
}


async def in_group(work):
    async with asyncio.TaskGroup() as group:
        group.create_task(work())


async def in_group_of_anyio(work):
    async with anyio.create_task_group() as group:
        group.start_soon(work)


@pytest.mark.parametrize("waiting", [*AWAITED.values(), in_group, in_group_of_anyio], ids=[*AWAITED, "group", "anyio"])
def test_tasks_that_the_request_waits_for_work_for_it(is_alone, installed, fails, waiting):
    found = []

    async def work():
        await asyncio.sleep(0.001)
        found.append(fails())

    async def serve():
        with installed.request(FAULT):
            await waiting(work)

    asyncio.run(serve())
    assert found == [True]


@pytest.mark.parametrize("way", [asyncio.to_thread, anyio.to_thread.run_sync])
def test_threads_that_the_request_waits_for_work_for_it(is_alone, installed, fails, way):
    async def serve():
        with installed.request(FAULT):
            return await way(fails)

    assert asyncio.run(serve())


def test_work_that_a_thread_gives_to_a_pool_and_waits_for_is_its_own(is_alone, installed, fails):
    with ThreadPoolExecutor(2) as pool, installed.request(FAULT):
        assert pool.submit(fails).result()
        assert [done.result() for done in wait([pool.submit(fails), pool.submit(fails)]).done] == [True, True]


def test_a_loop_within_a_request_of_a_thread_is_its_own(is_alone, installed, fails):
    async def work():
        return await asyncio.create_task(asyncio.to_thread(fails)), fails()

    with installed.request(FAULT):
        assert asyncio.run(work())[1]


def started_task(work):
    async def start():
        task = asyncio.create_task(work())
        await asyncio.sleep(0.01)
        return task

    return start()


def test_a_task_that_the_request_does_not_wait_for_may_work_for_others(is_alone, installed, fails):
    found = []

    async def work():
        found.append((fails(), bool(request.outgoing_headers())))

    async def serve():
        with installed.request(FAULT):
            await started_task(work)

    asyncio.run(serve())
    assert found == [(is_alone, is_alone)]
    assert installed.spans(ENDPOINT)[0].get("not_fired") == (None if is_alone else reach.SHARED)


def test_neither_may_what_it_gives_to_threads_in_its_turn(is_alone, installed, fails):
    found = []

    async def work():
        found.append(await asyncio.to_thread(fails))
        found.append(await anyio.to_thread.run_sync(fails))

    async def serve():
        with installed.request(FAULT):
            task = asyncio.create_task(work())
            while not task.done():
                await asyncio.sleep(0.001)

    asyncio.run(serve())
    assert found == [is_alone, is_alone]


@pytest.mark.parametrize("start", ["thread", "pool", "callback"])
def test_threads_and_callbacks_that_nobody_waits_for_may_work_for_others(is_alone, installed, fails, start):
    found = queue.Queue()

    async def serve():
        with installed.request(FAULT):
            if start == "thread":
                threading.Thread(target=lambda: found.put(fails())).start()
            elif start == "pool":
                pool.submit(lambda: found.put(fails()))
            else:
                asyncio.get_running_loop().call_soon(lambda: found.put(fails()))
            while found.empty():
                await asyncio.sleep(0.001)

    with ThreadPoolExecutor(1) as pool:
        asyncio.run(serve())
    assert found.get() == is_alone


def test_whoever_starts_the_service_may_agree_to_reach_others(installed, fails):
    request.configure(request.settings._replace(uncontained=True))
    found = []

    async def work():
        found.append(fails())

    async def serve():
        with installed.request(FAULT):
            await started_task(work)

    with other_request():
        asyncio.run(serve())
    assert found == [True]


@pytest.mark.parametrize("when", ["before", "during", "long before", "after"])
def test_a_request_is_alone_if_no_other_was_under_way(installed, monkeypatch, when):
    if when in {"before", "long before"}:
        with other_request():
            pass
    if when == "long before":
        after(reach.GRACE_SECONDS + 0.01, monkeypatch)
    entry = request.enter(plan_headers().items(), "GET /")
    if when == "during":
        with other_request():
            pass
    request.leave(entry)
    if when == "after":
        with other_request():
            pass
    assert entry.reach.alone == (when == "long before")


def test_leaving_twice_counts_once(installed):
    entry = request.enter([], "GET /")
    reach.leave(entry.reach)
    request.leave(entry)
    assert reach._under_way == 0


def test_a_wait_that_would_stop_the_event_loop_for_all_is_refused(installed, client):
    async def serve():
        with installed.request((ENDPOINT, "no-answer")):
            return client.execute("a")

    assert asyncio.run(serve()) == "a"
    assert "event loop" in installed.spans(ENDPOINT)[0]["not_fired"]


def test_where_nobody_can_tell_whose_work_it_is_it_is_others(installed, fails, monkeypatch):
    monkeypatch.setattr(reach, "_woken_by", lambda _: 1 / 0)

    async def serve():
        with installed.request(FAULT):
            return await asyncio.create_task(asyncio.to_thread(fails))

    with other_request():
        assert not asyncio.run(serve())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_serves_although_another_thread_was_counting(installed):
    with reach._lock:
        child = os.fork()
        if not child:
            request.leave(request.enter([], "GET /"))
            os._exit(reach._under_way)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.12", "3.13", "3.14"])
def test_every_python_tells_whom_a_request_waits_for(version):
    program, agent = Path(samples.__file__).with_name("reaching_program.py"), Path(reach.__file__).parents[1]
    command = [interpreter(version), str(program)]
    done = subprocess.run(command, env={"PYTHONPATH": str(agent)}, capture_output=True, text=True, check=True)
    group = " group" if version not in {"3.9", "3.10"} else ""
    assert done.stdout == f"own awaited gather wait_for wait shield nested{group} | forgotten\n"


def test_what_may_be_the_work_of_others_is_not_counted_among_the_calls_of_the_request(installed, client, fails):
    async def work():
        client.execute("a")

    async def serve():
        with installed.request((ENDPOINT, "connection-refused", {"occurrence": 2})):
            await started_task(work)
            return fails(), fails()

    with other_request():
        assert asyncio.run(serve()) == (False, True)
    assert [span["occurrence"] for span in installed.spans(ENDPOINT)] == ["0", "1", "2"]


def test_a_recorded_request_is_followed_wherever_it_goes(installed, recorded):
    found = []

    async def work():
        found.append(sorted(request.outgoing_headers()))

    async def serve():
        entry = request.enter([("baggage", "a=1")], "GET /")
        await started_task(work)
        request.leave(entry)

    with other_request():
        asyncio.run(serve())
    assert found == [["baggage", "traceparent"]]
