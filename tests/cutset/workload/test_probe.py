import asyncio

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from cutset.errors import InputError
from cutset.receive.server import listen, serve
from cutset.workload.probe import PROBE_PATH, ProbeAnswer, ProbeRequest, probe_of, send_to


def test_one_request_is_sent_and_only_our_headers_of_its_answer_are_told():
    async def scenario():
        async def answer(request: Request) -> Response:
            seen = f"{request.method} {request.headers['host']} {request.headers.get('content-type', '-')}"
            return Response(status_code=204, headers={"x-cutset-probe": seen, "x-other": "secret"})

        listener = listen("127.0.0.1", 0, for_what="tests", hint="")
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        async with serve(Router([Route(PROBE_PATH, answer, methods=["GET", "POST"])]), listener):
            headers = {"host": "cart.shop", "tracestate": "cutset=…"}
            assert await send_to(ProbeRequest(address, headers={"host": "cart.shop"})) == ProbeAnswer(
                204, {"x-cutset-probe": "GET cart.shop -"}
            )
            found = await send_to(ProbeRequest(address, grpc=True, headers=headers | {"tracestate": "a"}))
            assert found.headers == {"x-cutset-probe": "POST cart.shop application/grpc"}

    asyncio.run(scenario())


def test_no_answer_is_an_answer_with_a_reason():
    listener = listen("127.0.0.1", 0, for_what="tests", hint="")
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    listener.close()
    found = asyncio.run(send_to(ProbeRequest(address)))
    assert found.status == 0
    assert found.error


def test_what_is_asked_for_is_read_with_care():
    assert probe_of({"address": "10.0.0.1:80", "grpc": True, "headers": {"a": "b"}}) == ProbeRequest(
        "10.0.0.1:80", grpc=True, headers={"a": "b"}
    )
    for wrong in (
        None,
        {},
        {"address": "10.0.0.1"},
        {"address": 1},
        {"address": "a:1", "grpc": "yes"},
        {"address": "a:1", "headers": []},
        {"address": "a:1", "headers": {"a": 1}},
        {"address": "a:1", "headers": {"a": "b\r\nc: d"}},
        {"address": "a:1", "headers": {str(n): "" for n in range(33)}},
    ):
        with pytest.raises(InputError):
            probe_of(wrong)
