"""A real gRPC server in this process, and channels to it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from tests.samples.grpc_quotes import Quotes


@pytest.fixture(scope="module")
def served():
    quotes = Quotes()
    codecs = {"request_deserializer": StringValue.FromString, "response_serializer": StringValue.SerializeToString}
    methods = {
        "GetQuote": grpc.unary_unary_rpc_method_handler(quotes.get, **codecs),
        "ListQuotes": grpc.unary_stream_rpc_method_handler(quotes.list, **codecs),
        "SumQuotes": grpc.stream_unary_rpc_method_handler(quotes.sum, **codecs),
        "Chat": grpc.stream_stream_rpc_method_handler(quotes.chat, **codecs),
    }
    server = grpc.server(ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("shop.Quotes", methods),))
    quotes.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield quotes
    server.stop(None).wait()


@pytest.fixture
def quotes(served):
    served.asked.clear()
    return served


@pytest.fixture
def channel(quotes):
    with grpc.insecure_channel(quotes.address) as channel:
        yield channel


@pytest.fixture
def run(quotes):
    """Runs an asynchronous function with an asyncio channel."""

    def run(function, **options):
        async def main():
            async with grpc.aio.insecure_channel(quotes.address, **options) as channel:
                return await function(channel)

        return asyncio.run(main())

    return run
