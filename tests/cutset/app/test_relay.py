import asyncio

import httpx
from starlette.responses import Response
from starlette.routing import Route, Router

from cutset.app.relay import serve_relay
from cutset.receive.server import listen, serve
from cutset.traces.relaying import Relay
from cutset.workload.probe import PROBE_PATH


def test_a_relay_serves_spans_and_probes_on_loopback():
    async def scenario():
        async def answer(_):
            return Response(status_code=204, headers={"x-cutset-probe": "cart/cart-1/abc"})

        listener = listen("127.0.0.1", 0, for_what="tests", hint="")
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        async with (
            serve(Router([Route(PROBE_PATH, answer)]), listener),
            serve_relay(Relay(), 0) as url,
            httpx.AsyncClient(base_url=url, timeout=30) as client,
        ):
            assert url.startswith("http://127.0.0.1:")
            assert (await client.get("/ready")).status_code == 200
            told = (await client.post("/probe", json={"address": address})).json()
            assert told == {"status": 204, "headers": {"x-cutset-probe": "cart/cart-1/abc"}, "error": ""}
            assert (await client.post("/probe", content=b"{")).status_code == 400
            assert (await client.post("/probe", json={})).status_code == 400
            assert (await client.post("/probe", content=b" " * 100_000)).status_code == 413
            assert (await client.get("/probe")).status_code == 405

    asyncio.run(scenario())
