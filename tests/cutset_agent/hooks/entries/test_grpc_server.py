"""gRPC servers, synchronous and asyncio: a call that they serve is a request, with the plan that it carries."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager

import grpc
import pytest
from tests.cutset_agent.conftest import plan_headers

import cutset_agent
from cutset_agent import request
from cutset_agent.reports import errors


def carries_plan():
    return b"planned" if request.current() is not None else b"plain"


class Service:
    """Answers with whether the code that serves works for a request with a plan."""

    def unary(self, asked, context):
        if asked == b"abort":
            context.abort(grpc.StatusCode.UNAVAILABLE, "later")
        if asked == b"missing":
            context.set_code(grpc.StatusCode.NOT_FOUND)
        if asked == b"bug":
            raise ZeroDivisionError
        return carries_plan()

    def stream(self, _asked, _context):
        yield carries_plan()
        yield carries_plan()

    def iterator(self, _asked, _context):
        return map(lambda _: carries_plan(), range(2))  # noqa: C417


class AsynchronousService:
    async def unary(self, asked, context):
        if asked == b"abort":
            await context.abort(grpc.StatusCode.UNAVAILABLE, "later")
        if asked == b"missing":
            context.set_code(grpc.StatusCode.NOT_FOUND)
        if asked == b"bug":
            raise ZeroDivisionError
        return carries_plan()

    async def stream(self, _asked, _context):
        yield carries_plan()
        await asyncio.sleep(0)
        yield carries_plan()

    async def iterator(self, _asked, context):
        await context.write(carries_plan())
        await context.write(carries_plan())


def handlers(service):
    methods = {
        "Unary": grpc.unary_unary_rpc_method_handler(service.unary),
        "Stream": grpc.unary_stream_rpc_method_handler(service.stream),
        "Iterator": grpc.unary_stream_rpc_method_handler(service.iterator),
    }
    return (grpc.method_handlers_generic_handler("shop.Service", methods),)


@contextmanager
def served(service=""):
    with cutset_agent.serving(service):
        server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers(handlers(Service()))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        server.stop(None).wait()


@asynccontextmanager
async def asynchronously_served(service, name=""):
    with cutset_agent.serving(name):
        server = grpc.aio.server()
    server.add_generic_rpc_handlers(handlers(service))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.stop(None)


def entries(installed):
    return [(span["name"], span["http.status_code"], span.get("error")) for span in installed.spans()]


ANSWERS = {
    b"fine": (None, ("Unary", "200", None)),
    b"missing": (grpc.StatusCode.NOT_FOUND, ("Unary", "404", None)),
    b"abort": (grpc.StatusCode.UNAVAILABLE, ("Unary", "503", "true")),
    b"bug": (grpc.StatusCode.UNKNOWN, ("Unary", "500", "true")),
}


@pytest.mark.parametrize("asked", ANSWERS)
def test_a_call_is_a_request_with_its_plan(installed, planned_metadata, asked):
    code, entry = ANSWERS[asked]
    with served() as channel:
        call = channel.unary_unary("/shop.Service/Unary")
        assert call(b"fine") == b"plain"
        if code is None:
            assert call(asked, metadata=planned_metadata) == b"planned"
        else:
            with pytest.raises(grpc.RpcError) as raised:
                call(asked, metadata=planned_metadata)
            assert raised.value.code() is code
        assert call(b"fine") == b"plain"
    assert entries(installed) == [entry]
    assert not errors


def test_servers_of_one_process_have_their_own_names(installed, planned_metadata):
    async def main():
        async with asynchronously_served(AsynchronousService(), "users") as channel:
            await channel.unary_unary("/shop.Service/Unary")(b"fine", metadata=planned_metadata)

    with served("cart") as channel:
        channel.unary_unary("/shop.Service/Unary")(b"fine", metadata=planned_metadata)
    with served() as channel:
        channel.unary_unary("/shop.Service/Unary")(b"fine", metadata=planned_metadata)
    asyncio.run(main())
    assert [span["service"] for span in installed.spans()] == ["cart", "orders", "users"]


@pytest.mark.parametrize("asked", ANSWERS)
def test_a_call_of_an_asyncio_server_is_a_request_with_its_plan(installed, planned_metadata, asked):
    code, entry = ANSWERS[asked]

    async def main():
        async with asynchronously_served(AsynchronousService()) as channel:
            call = channel.unary_unary("/shop.Service/Unary")
            assert await call(b"fine") == b"plain"
            if code is None:
                assert await call(asked, metadata=planned_metadata) == b"planned"
            else:
                with pytest.raises(grpc.aio.AioRpcError) as raised:
                    await call(asked, metadata=planned_metadata)
                assert raised.value.code() is code
            assert await call(b"fine") == b"plain"

    asyncio.run(main())
    assert entries(installed) == [entry]
    assert not errors


@pytest.mark.parametrize("method", ["Stream", "Iterator"])
def test_a_stream_is_a_request_until_it_ends(installed, planned_metadata, method):
    with served() as channel:
        call = channel.unary_stream(f"/shop.Service/{method}")
        assert list(call(b"")) == [b"plain"] * 2
        assert list(call(b"", metadata=planned_metadata)) == [b"planned"] * 2
        assert list(call(b"")) == [b"plain"] * 2
    assert entries(installed) == [(method, "200", None)]


@pytest.mark.parametrize("service", [Service(), AsynchronousService()], ids=["synchronous", "asyncio"])
@pytest.mark.parametrize("method", ["Stream", "Iterator"])
def test_a_stream_of_an_asyncio_server_is_a_request_until_it_ends(installed, planned_metadata, method, service):
    async def main():
        async with asynchronously_served(service) as channel:
            call = channel.unary_stream(f"/shop.Service/{method}")
            planned = [each async for each in call(b"", metadata=planned_metadata)]
            return planned, [each async for each in call(b"")]

    assert asyncio.run(main()) == ([b"planned"] * 2, [b"plain"] * 2)
    assert entries(installed) == [(method, "200", None)]


def test_the_applications_interceptors_and_unknown_methods_are_served_as_ever(installed):
    seen = []

    class Interceptor(grpc.ServerInterceptor):
        def intercept_service(self, continuation, details):
            seen.append(details.method)
            return continuation(details)

    server = grpc.server(ThreadPoolExecutor(1), None, [Interceptor()])
    server.add_generic_rpc_handlers(handlers(Service()))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        assert channel.unary_unary("/shop.Service/Unary")(b"") == b"plain"
        with pytest.raises(grpc.RpcError) as raised:
            channel.unary_unary("/shop.Service/Unknown")(b"")
    server.stop(None).wait()
    assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert seen == ["/shop.Service/Unary", "/shop.Service/Unknown"]


@pytest.fixture
def planned_metadata(installed):
    """What a caller within a request with a plan sends."""
    with installed.request() as planned:
        metadata = (*request.outgoing_headers().items(), ("token-bin", b"\x00"))
    assert planned is not None
    installed.spans()
    installed.received.spans.clear()
    return metadata


def test_a_call_ends_when_its_handler_does(installed):
    reaches = []

    class Noting(Service):
        def unary(self, _asked, _context):
            reaches.append(request.current().reach)
            return str(reaches[0].ended).encode()

    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers(handlers(Noting()))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        metadata = tuple(plan_headers().items())
        assert channel.unary_unary("/shop.Service/Unary")(b"", metadata=metadata) == b"None"
    server.stop(None).wait()
    assert reaches[0].ended is not None
