"""Any Python command with the agent inside, in every Python that it supports."""

import json
import os
import subprocess
import sys
import time

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.cutset_agent.conftest import KEY, SERVICE, TRACE_ID, plan_headers, receiver
from tests.samples.interpreters import interpreter

from cutset_agent import wire
from cutset_agent.launch import agent_environment

BARE = {"PATH": os.environ["PATH"], "CUTSET_KEY": KEY}


# A service in one process: it serves a request that carries a plan, and one that does not.
PROGRAM = """
import io, json, sys, threading
from wsgiref.handlers import SimpleHandler
import small_library

def app(environ, start_response):
    try:
        status = small_library.call()
    except ConnectionError:
        status = "503 Service Unavailable"
    start_response(status, [])
    return []

def serve(headers):
    output = io.BytesIO()
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "SERVER_PROTOCOL": "HTTP/1.0"}
    environ.update({"HTTP_" + name.upper(): value for name, value in headers.items()})
    SimpleHandler(io.BytesIO(), output, io.StringIO(), environ).run(app)
    return output.getvalue().split(b"\\r\\n")[0].decode()

print(json.dumps([serve(json.loads(sys.argv[1])), serve({})]))
"""


LIBRARY = """
def call():
    return "200 OK"
"""


# As a third party would bring it: a hook for a library that Cutset does not know.
HOOK = """
from cutset_agent.calls import HookedCall
from cutset_agent.hooking import wrap
MODULE = "small_library"
FAULTS = {"connection-refused": lambda call, args, kwargs: ConnectionRefusedError(111, "Connection refused")}
def install(module):
    wrap(module, "call", lambda args, kwargs: HookedCall("rpc/small_library/call"), FAULTS)
"""


@pytest.fixture
def folder(tmp_path):
    for name, text in {"program.py": PROGRAM, "small_library.py": LIBRARY, "small_hook.py": HOOK}.items():
        (tmp_path / name).write_text(text)
    package = tmp_path / "small_hook-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: small-hook\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[cutset.faults]\nsmall_library = small_hook\n")
    return tmp_path


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def test_a_plan_acts_in_every_supported_python(folder, version):
    command = [
        interpreter(version),
        "program.py",
        json.dumps(plan_headers(("rpc/small_library/call", "connection-refused"))),
    ]
    with receiver() as received:
        environment = agent_environment({**BARE, "PYTHONPATH": "."}, service=SERVICE, collector=received.url)
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    assert done.stderr == b""
    assert json.loads(done.stdout) == ["HTTP/1.0 503 Service Unavailable", "HTTP/1.0 200 OK"]
    entry, call = sorted(received.spans, key=lambda span: span["kind"])
    assert (call["endpoint"], call["fault"]) == ("rpc/small_library/call", "connection-refused")
    assert (entry["name"], "agent_errors" in entry) == ("GET /", False)


@pytest.mark.parametrize("changed", [{"CUTSET_AGENT": ""}, {"CUTSET_KEY": ""}, {"CUTSET_KEY": "x" * 31}])
def test_without_its_switch_or_a_key_that_nobody_guesses_the_agent_loads_nothing(changed):
    program = (
        "import cutset_agent, sys; installed = cutset_agent.install();"
        "print(installed, [name for name in sys.modules if name.startswith('cutset_agent.')])"
    )
    environment = agent_environment(BARE) | changed
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "False []\n"


def test_a_public_key_is_enough_and_then_a_shared_one_does_not_count():
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    program = (
        "import json, sys, cutset_agent; from cutset_agent import request; assert cutset_agent.install();"
        "print([bool(request.enter(headers.items(), 'GET /').request) for headers in json.loads(sys.argv[1])])"
    )
    shared = plan_headers(("rpc/x/call", "connection-refused"))

    def signed(text):
        numbers = decode_dss_signature(key.sign(text, ec.ECDSA(SHA256())))
        return b"".join(number.to_bytes(32, "big") for number in numbers)

    ours = {"environment": "local", "trace_id": TRACE_ID, "expires": time.time() + 60, "now": time.time()}
    (part,) = wire.encode([], key=wire.WireSigner("e", signed), **ours)
    private = {"traceparent": shared["traceparent"], "tracestate": wire.to_tracestate([part])}
    for given, accepted in ((public, [False, True]), ("none", [False, False]), ("", [True, False])):
        environment = agent_environment({**BARE, "CUTSET_PUBLIC_KEY": given}, service=SERVICE)
        command = [sys.executable, "-c", program, json.dumps([shared, private])]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == f"{accepted}\n", given


def test_what_is_given_wins_over_what_is_there():
    environment = agent_environment({"CUTSET_SERVICE": "a", "CUTSET_RECORD": "b", "PYTHONPATH": "/x"}, service="c")
    assert (environment["CUTSET_SERVICE"], environment["CUTSET_RECORD"]) == ("c", "b")
    assert environment["PYTHONPATH"].endswith(f"agent_hook{os.pathsep}/x")
