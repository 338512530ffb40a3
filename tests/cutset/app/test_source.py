import asyncio

import pytest

from cutset.app.source import spans_of
from cutset.errors import TargetError
from cutset.model.target import Receiver


def test_spans_are_sent_to_us_unless_a_server_has_them():
    receiver = Receiver(
        http_port=0,
        grpc_port=0,
        jaeger_compact_port=None,
        jaeger_binary_port=None,
        jaeger_http_port=None,
        zipkin_port=None,
    )

    async def scenario():
        async with spans_of(receiver) as collector:
            assert collector.http_url.startswith("http://127.0.0.1:")
        with pytest.raises(TargetError, match=r"http://127\.0\.0\.1:1"):
            async with spans_of(Receiver(jaeger="http://127.0.0.1:1")):
                pass

    asyncio.run(scenario())
