"""Spoilt answers and bodies of one's own, by filter.lua inside a real Envoy: what callers get, and what is proved."""

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import grpc
import httpx
import pytest
from tests.cutset.inject.conftest import KEY

from cutset.inject.local.mesh import run_mesh
from cutset.model.mesh import MeshService, MeshSpec

BODY = json.dumps({"items": ["ä" * 1000, 1, 2, 3]}, ensure_ascii=False).encode()
LARGE = bytes(range(256)) * 16_384  # 4 MB: beyond what Envoy buffers
ANSWERS = {
    "/plain": [b"HTTP/1.1 200 OK\r\nx-own: 1\r\ncontent-length: %d\r\n\r\n" % len(BODY), BODY],
    "/chunked": [
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        b"%x\r\n%s\r\n" % (len(BODY), BODY),
        b"0\r\n\r\n",
    ],
    "/large": [b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(LARGE), LARGE],
    "/failed": [b"HTTP/1.1 500 Oh\r\ncontent-length: 2\r\n\r\n", b"no"],
    "/nothing": [b"HTTP/1.1 204 No Content\r\n\r\n"],
    "/emptied": [b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"],
    "/gzip": [
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(gzip.compress(BODY)),
        gzip.compress(BODY),
    ],
}
ENDLESS = [
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
    b"6\r\nevent\n\r\n",
]  # and the second again, for ever


def _serve(connection: socket.socket) -> None:
    with suppress(OSError), connection, connection.makefile("rb") as reader:
        while line := reader.readline():
            method, path, _ = line.decode().split(" ")
            while reader.readline() not in (b"\r\n", b""):
                pass
            if path == "/endless":
                connection.sendall(ENDLESS[0])
                while True:
                    connection.sendall(ENDLESS[1])
            head, *body = ANSWERS[path]
            for piece in [head] if method == "HEAD" else [head, *body]:
                connection.sendall(piece)


def _accept(listener: socket.socket) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return

        threading.Thread(target=_serve, args=(connection,), daemon=True).start()


@pytest.fixture(scope="module")
def shop(lab, tmp_path_factory) -> Iterator[str]:
    """Answers as they are written above, behind a mesh that reports to the laboratory's collector."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_accept, args=(listener,), daemon=True).start()
        service = MeshService("raw", "http", (f"127.0.0.1:{listener.getsockname()[1]}",))
        spec = MeshSpec((service,), environment="test", collector=lab.mesh.spec.collector)
        with run_mesh(spec, key=KEY, work_dir=tmp_path_factory.mktemp("raw")) as mesh:
            yield f"http://{mesh.addresses['raw']}"
            errors = httpx.get(f"{mesh.admin_url}/stats", params={"filter": "lua.errors"}).text
            assert not [line for line in errors.splitlines() if not line.endswith(": 0")]
        listener.shutdown(socket.SHUT_RDWR)


def fetch(lab, shop, path, effect, method="GET"):
    """The answer with its raw body, and what its span says."""
    trace_id = lab.new_trace_id()
    headers = lab.headers(f"raw/{method} {path}:{effect}", trace_id=trace_id)
    with lab.client.stream(method, shop + path, headers=headers) as response:
        body = b"".join(response.iter_raw())
    (tags,) = lab.sink.wait_for(trace_id)
    return response, body, (tags.get("cutset.fault"), tags.get("cutset.spoilt"), tags["response_flags"])


def inverted(body: bytes) -> bytes:
    return bytes(255 - each for each in body)


@pytest.mark.parametrize(
    ("effect", "left"), [("empty", b""), ("truncated", BODY[: len(BODY) // 2]), ("garbled", inverted(BODY))]
)
def test_the_callees_status_and_headers_stay_and_its_body_is_spoilt(lab, shop, effect, left):
    response, body, said = fetch(lab, shop, "/plain", effect)
    assert (response.status_code, response.headers["x-own"], body) == (200, "1", left)
    assert response.headers["content-length"] == str(len(left))
    assert said == (effect, effect, "-")


@pytest.mark.parametrize("effect", ["empty", "truncated", "garbled"])
def test_an_answer_that_does_not_tell_its_length_is_spoilt_as_it_comes(lab, shop, effect):
    response, body, said = fetch(lab, shop, "/chunked", effect)
    assert (response.status_code, said) == (200, (effect, effect, "-"))
    if effect == "truncated":
        assert 0 < len(body) < len(BODY)
        assert BODY.startswith(body)
    else:
        assert body == {"empty": b"", "garbled": inverted(BODY)}[effect]


def test_an_answer_larger_than_any_buffer_is_spoilt_too(lab, shop):
    assert fetch(lab, shop, "/large", "garbled")[1] == inverted(LARGE)
    _, body, said = fetch(lab, shop, "/large", "truncated")
    assert (body == LARGE[: len(LARGE) // 2], said) == (True, ("truncated", "truncated", "-"))


def test_what_is_compressed_cannot_be_unpacked_any_more(lab, shop):
    for effect in ("garbled", "truncated"):
        _, body, said = fetch(lab, shop, "/gzip", effect)
        with pytest.raises((OSError, EOFError)):
            gzip.decompress(body)
        assert said[1] == effect


def test_a_failure_is_spoilt_as_an_answer_is(lab, shop):
    response, body, said = fetch(lab, shop, "/failed", "garbled")
    assert (response.status_code, body, said[1]) == (500, inverted(b"no"), "garbled")


@pytest.mark.parametrize(("method", "path"), [("GET", "/nothing"), ("GET", "/emptied"), ("HEAD", "/plain")])
@pytest.mark.parametrize("effect", ["empty", "truncated", "garbled"])
def test_where_there_is_no_body_nothing_is_claimed(lab, shop, method, path, effect):
    response, body, said = fetch(lab, shop, path, effect, method)
    assert (body, said) == (b"", (effect, "nothing", "-"))
    if method == "HEAD":
        assert response.headers["content-length"] == str(len(BODY))


def test_a_stream_without_end_is_spoilt_while_it_runs(lab, shop):
    trace_id = lab.new_trace_id()
    headers = lab.headers("raw/GET /endless:garbled", trace_id=trace_id)
    with lab.client.stream("GET", shop + "/endless", headers=headers) as response:
        piece = next(response.iter_raw())
    assert piece.startswith(inverted(b"event\n"))
    (tags,) = lab.sink.wait_for(trace_id)
    assert tags["cutset.spoilt"] == "garbled"


def test_a_share_of_answers_is_spoilt_and_only_those_say_so(lab, shop):
    answers = [fetch(lab, shop, "/plain", "garbled,50%") for _ in range(60)]
    assert 5 < sum(body != BODY for _, body, _ in answers) < 55
    assert all((body != BODY) == (said[1] == "garbled") for _, body, said in answers)


def test_only_the_first_attempt_is_spoilt(lab, shop):
    assert fetch(lab, shop, "/plain", "garbled,attempts=1")[2][1] == "garbled"
    trace_id = lab.new_trace_id()
    two = lab.headers("web/GET /:garbled,attempts=1", "web/GET /#1", "web/GET /#2", "web/GET /#3", trace_id=trace_id)
    lab.client.get(f"http://{lab.mesh.addresses['web']}/", headers=two)  # a replica's own fault comes first: retried
    tags = lab.sink.wait_for(trace_id, 3)
    assert {each.get("cutset.spoilt") for each in tags} == {None}


@pytest.mark.parametrize("effect", ["empty", "truncated", "garbled"])
def test_the_message_of_a_grpc_call_is_spoilt_and_its_status_stays(lab, effect):
    trace_id = lab.new_trace_id()
    headers = lab.headers(f"cart/GetCart:{effect}", trace_id=trace_id)
    with grpc.insecure_channel(lab.mesh.addresses["cart"]) as channel:
        invoke = channel.unary_unary("/shop.Cart/GetCart")
        assert invoke(b"", metadata=list(headers.items()), timeout=20) is None  # so gRPC calls what it cannot read
    (tags,) = lab.sink.wait_for(trace_id)
    assert (tags["cutset.spoilt"], tags["grpc.status_code"]) == (effect, "0")


def test_a_grpc_failure_has_no_message_to_spoil(lab):
    trace_id = lab.new_trace_id()
    status, _, _ = lab.call("cart", "Fail5", lab.headers("cart/Fail5:garbled", trace_id=trace_id))
    (tags,) = lab.sink.wait_for(trace_id)
    assert (status, tags["cutset.spoilt"]) == (5, "nothing")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [("busy", "text/plain"), ('{"error": "zu viel %s ä"}', "application/json"), ("%DYNAMIC_METADATA%", "text/plain")],
)
def test_an_abort_answers_with_the_body_that_it_was_given(lab, body, content_type):
    trace_id = lab.new_trace_id()
    escaped = "".join(f"%{each:02X}" for each in body.encode())
    response = lab.get("solo", "/", f"solo/GET /:abort(429,{escaped})", trace_id=trace_id)
    assert (response.status_code, response.text) == (429, body)
    assert response.headers["content-type"] == content_type
    assert response.headers["content-length"] == str(len(body.encode()))
    assert response.headers["x-cutset-fault"] == "abort(429)"
    assert lab.sink.wait_for(trace_id)[0]["response_flags"] == "FI"


def test_on_grpc_the_body_of_an_abort_is_its_message(lab):
    status, _, call = lab.call("cart", "GetCart", lab.headers("cart/GetCart:abort(503,too busy)"))
    assert (status, call.details()) == (14, "too busy")
