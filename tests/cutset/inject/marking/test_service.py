"""The marker as a gRPC server, asked as Envoy asks it. Envoy itself: `local/test_marking.py`."""

import asyncio
import socket
from contextlib import suppress

import grpc
import pytest

from cutset.errors import TargetError
from cutset.inject.marking.check_pb2 import CheckRequest, CheckResponse, HeaderValueOption, HealthCheckResponse
from cutset.inject.marking.marker import Marker, MarkingOrder
from cutset.inject.marking.service import AUTHORIZATION, HEALTH, LEAST_SECONDS, serve_marker

KEY = b"a key for tests that nobody guesses"
ORDER = MarkingOrder(frozenset(), "test", ("baggage",), life=5.0)
PATIENCE_SECONDS = 20
HOST = "127.0.0.1"


def question(path="/", **headers):
    asked = CheckRequest()
    asked.attributes.request.http.method = "GET"
    asked.attributes.request.http.path = path
    asked.attributes.request.http.headers.update(headers)
    return asked.SerializeToString()


def with_marker(scenario, *, may_mark=lambda: True, on_mark=lambda _: None):
    async def run():
        marker = Marker(KEY, "run", may_mark=may_mark, on_mark=on_mark)
        async with (
            serve_marker(marker, host=HOST, port=0) as address,
            grpc.aio.insecure_channel(address, [("grpc.enable_http_proxy", 0)]) as channel,
        ):

            async def ask(payload, seconds=PATIENCE_SECONDS):
                invoke = channel.unary_unary(f"/{AUTHORIZATION}/Check")
                return CheckResponse.FromString(await invoke(payload, timeout=seconds))

            async def health():
                invoke = channel.unary_unary(f"/{HEALTH}/Check")
                return HealthCheckResponse.FromString(await invoke(b"", timeout=PATIENCE_SECONDS)).status

            await scenario(marker, ask, health)

    asyncio.run(run())


def test_a_question_whose_answer_would_come_too_late_marks_nothing():
    marks = []

    async def scenario(marker, ask, _health):
        marker.order = ORDER
        for _ in range(20):
            with suppress(grpc.aio.AioRpcError):  # on a busy machine nobody waited for the answer
                response = await ask(question(), seconds=LEAST_SECONDS / 2)
                assert not response.ok_response.headers

    with_marker(scenario, on_mark=marks.append)
    assert marks == []


def test_a_marked_request_is_let_on_with_its_plan():
    async def scenario(marker, ask, _health):
        marker.order = ORDER
        response = await ask(question())
        assert response.HasField("ok_response")
        added = {each.header.key: each for each in response.ok_response.headers}
        assert added.keys() == {"traceparent", "baggage"}
        assert added["baggage"].header.value.startswith("cutset=2h.")
        assert {each.append_action for each in added.values()} == {HeaderValueOption.OVERWRITE_IF_EXISTS_OR_ADD}

    with_marker(scenario)


def test_the_answer_is_always_ok():
    async def scenario(marker, ask, _health):
        unchanged = CheckResponse.FromString(b"\x1a\x00")
        assert await ask(question()) == unchanged  # no order
        assert await ask(b"") == unchanged
        assert await ask(b"\xff not of that kind") == unchanged
        assert marker.problem.startswith("DecodeError")
        marker.order = ORDER
        assert await ask(question()) == unchanged  # what `on_mark` does fails
        assert marker.problem == "OSError: no space left on device"

    def full(_mark):
        raise OSError("no space left on device")

    with_marker(scenario, on_mark=full)


def test_who_marks_nothing_is_not_worth_asking():
    allowed = [True]

    async def scenario(marker, _ask, health):
        assert await health() == HealthCheckResponse.NOT_SERVING
        marker.order = ORDER
        assert await health() == HealthCheckResponse.SERVING
        allowed[0] = False
        assert await health() == HealthCheckResponse.NOT_SERVING

    with_marker(scenario, may_mark=lambda: allowed[0])


def test_a_port_that_is_taken_is_refused_with_a_hint():
    async def scenario(port):
        async with serve_marker(Marker(KEY, "", may_mark=bool, on_mark=print), host=HOST, port=port):
            pass

    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(TargetError, match=str(port)) as caught:
            asyncio.run(scenario(port))
    assert "cutset status" in caught.value.hint
