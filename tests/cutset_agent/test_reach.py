"""How far a plan reaches: up to a grace after its request's end, and not into what may be the work of others."""

import asyncio
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager

import anyio
import anyio.to_thread
import pytest
from tests.cutset_agent.conftest import plan_headers
from tests.samples.hooked_library import ENDPOINT, LibraryError

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
def beside_others():
    """While another request, without a plan, is under way."""
    entry = request.enter([], "GET /other")
    request._current.set(request._OUTSIDE)
    try:
        yield
    finally:
        request.leave(entry)


@pytest.fixture(params=["alone", "beside others"])
def company(request):
    if request.param == "alone":
        yield False
        return
    with beside_others():
        yield True


def after(seconds, monkeypatch):
    later = time.monotonic() + seconds
    monkeypatch.setattr(time, "monotonic", lambda: later)


def test_what_a_request_started_meets_no_fault_once_its_grace_is_over(installed, fails, monkeypatch):
    with installed.request(FAULT):
        left = reach_of_worker = request.current()
        context = request.copy_context() if hasattr(request, "copy_context") else __import__("contextvars").copy_context()
    assert reach_of_worker is left
    assert context.run(fails)
    after(reach.GRACE_SECONDS + 0.01, monkeypatch)
    assert not context.run(fails)
    assert context.run(request.outgoing_headers) == {}
    *_, last = installed.spans(ENDPOINT)
    assert (last["not_fired"], last.get("fault")) == (reach.ENDED, None)


def test_of_a_request_that_has_ended_nothing_else_is_reported(installed, client, monkeypatch):
    import contextvars

    with installed.request():
        context = contextvars.copy_context()
    after(reach.GRACE_SECONDS + 0.01, monkeypatch)
    context.run(client.execute, "a")
    assert installed.spans(ENDPOINT) == []
