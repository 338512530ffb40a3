"""A request without an entry of ours: OpenTelemetry's first span of it in this process says when it is over."""

import contextvars
import time
from contextlib import contextmanager

from opentelemetry import context, propagate
from opentelemetry.sdk.trace import TracerProvider
from tests.cutset_agent.conftest import plan_headers
from tests.samples.hooked_library import ENDPOINT, LibraryError

from cutset_agent import reach, request
from cutset_agent.reports import errors

TRACER = TracerProvider().get_tracer("test")


@contextmanager
def served(headers):
    token = context.attach(propagate.extract(headers))
    try:
        with TRACER.start_as_current_span("GET /"):
            yield
    finally:
        context.detach(token)


def fails(client):
    with TRACER.start_as_current_span("SELECT"):  # as an instrumented library: a span that goes on, of its own
        try:
            client.execute("a")
        except LibraryError:
            return True
    return False


def test_no_fault_fires_once_the_servers_span_has_long_ended(installed, client, monkeypatch):
    request.configure(request.settings._replace(uncontained=False))
    with served(plan_headers((ENDPOINT, "connection-refused"))):
        assert fails(client)
        started = contextvars.copy_context()
    assert not started.run(fails, client)  # nobody tells whether other requests are under way
    later = time.monotonic() + reach.GRACE_SECONDS + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert not started.run(fails, client)
    assert [span.get("not_fired") for span in installed.spans(ENDPOINT)] == [None, reach.SHARED, reach.ENDED]


def test_the_next_request_of_the_same_trace_is_one_again(installed, client):
    for _ in range(2):
        with served(plan_headers((ENDPOINT, "connection-refused"))):
            assert fails(client)


def test_a_span_of_another_process_is_no_beginning(installed):
    token = context.attach(propagate.extract(plan_headers()))
    try:
        assert request.current() is None
    finally:
        context.detach(token)


def test_an_error_of_ours_is_not_the_spans(installed, monkeypatch):
    with monkeypatch.context() as patching, served(plan_headers()):
        patching.setattr(request, "_roots", None)
    assert any("OpenTelemetry" in error for error in errors)
