"""An agent that is switched on within the test's own process, and the receiver of what it reports and records."""

import asyncio
import inspect
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import uvicorn
from tests.samples import hooked_library

import cutset_agent
from cutset_agent import recording, reports, request, wire
from cutset_agent.hooking import wrap
from cutset_demo import datastores

KEY = "an agent's key that nobody guesses"
SERVICE = "orders"
TRACE_ID = "ab" * 16
CALLER_ID = "cd" * 8


@dataclass
class Receiver:
    """Stands for the collector and for `cutset record`."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)  # answers to give first, before all that follow are 200
    spans: list[dict] = field(default_factory=list)
    exchanges: list[dict] = field(default_factory=list)
    posts: int = 0


@contextmanager
def receiver() -> Iterator[Receiver]:
    received = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            status = received.statuses.pop(0) if received.statuses else 200
            received.posts += 1
            if status == 200 and self.path == "/v1/traces":
                received.spans += spans_in(json.loads(body))
            elif status == 200:
                received.exchanges += [json.loads(line) for line in body.splitlines()]
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    received.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield received
    finally:
        server.shutdown()
        server.server_close()


def spans_in(message: dict) -> list[dict]:
    """Spans with their attributes as a plain dictionary, without the prefix `cutset.`."""
    found = []
    for resource in message["resourceSpans"]:
        for span in resource["scopeSpans"][0]["spans"]:
            attributes = {each["key"]: each["value"]["stringValue"] for each in span["attributes"]}
            found.append({**span, **{name.replace("cutset.", ""): value for name, value in attributes.items()}})
    return found


def plan_headers(
    *faults: tuple, service: str = SERVICE, key: str = KEY, expires: float = 0, trace_id: str = TRACE_ID
) -> dict[str, str]:
    """The headers of a request with a plan. A fault is an endpoint (or that and a peer, as a tuple), a fault's name
    or a WireFault, and its further fields by name: `("cache/redis/get", "timeout", {"occurrence": 2})`."""
    planned = []
    for endpoint, what, *rest in faults:
        named = isinstance(what, str)
        fault = wire.WireFault("L", wire.fault_code(what), **(rest[0] if rest else {})) if named else what
        where = (endpoint,) if isinstance(endpoint, str) else endpoint
        planned.append((wire.WireTarget(service, *where), fault))
    signed = {"environment": "local", "trace_id": trace_id, "expires": expires or time.time() + 60, "now": time.time()}
    parts = wire.encode(planned, key=key.encode(), **signed)
    context = {"traceparent": f"00-{trace_id}-{CALLER_ID}-01"}
    return {**context, "tracestate": wire.to_tracestate(parts), "baggage": wire.to_baggage(parts)}


class Installed:
    def __init__(self, received: Receiver) -> None:
        self.received = received

    @contextmanager
    def request(self, *faults: tuple, **options) -> Iterator[request.ServedRequest]:
        """Within it, code works for a request that carries a plan with these faults."""
        entry = request.enter(plan_headers(*faults, **options).items(), "GET /")
        error = None
        try:
            yield entry.request
        except BaseException as problem:
            error = problem
            raise
        finally:
            request.leave(entry, None if error else 200, error)

    def spans(self, endpoint: str = "") -> list[dict]:
        """All that was reported so far, in order of start."""
        assert reports.flush()
        found = sorted(self.received.spans, key=lambda span: int(span["startTimeUnixNano"]))
        return [span for span in found if not endpoint or span.get("endpoint") == endpoint]


@pytest.fixture
def installed(monkeypatch):
    """Switched on, reporting and not recording."""
    with receiver() as received:
        environment = {"CUTSET_AGENT": "1", "CUTSET_KEY": KEY, "CUTSET_SERVICE": SERVICE}
        for name, value in {**environment, "CUTSET_COLLECTOR": received.url}.items():
            monkeypatch.setenv(name, value)
        assert cutset_agent.install()
        reports.errors.clear()
        yield Installed(received)
        reports.flush()  # while there is somebody to receive it; the end of the process would wait for it
        reports.start("")
        recording.start("")
        request.configure(request.AgentSettings())


@pytest.fixture
def recorded(installed):
    """The exchanges that a switched-on agent records; call it to wait for them."""
    recording.start(installed.received.url)

    def exchanges():
        assert recording.flush()
        return installed.received.exchanges

    return exchanges


@contextmanager
def served(app, **options) -> Iterator[str]:
    """The URL of the application, served by uvicorn."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", **options))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def redis_address(tmp_path_factory):
    """A real Redis."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    address = f"127.0.0.1:{port}"
    server = datastores._start_redis(address, tmp_path_factory.mktemp("redis"))
    try:
        datastores._wait_until_listening(server, address)
        yield address
    finally:
        server.process.kill()
        server.process.wait()


@pytest.fixture
def client():
    library = hooked_library.small_library()
    for name, faults in (("execute", hooked_library.FAULTS), ("execute_later", hooked_library.LATER)):
        wrap(
            library.Client,
            name,
            hooked_library.describe,
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
