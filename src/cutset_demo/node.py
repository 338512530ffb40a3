"""The process that runs replica i of every service, each with a server and a port of its own.

A process per replica would be truer still, but twenty-four interpreters take a minute to start on two cores.
This way the shop starts in seconds, and killing a node still takes half of every service away. A service with an agent
has a process to itself, with all its replicas: an agent knows one service.
"""

import asyncio
import gc
import logging
import socket
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack

import grpc
import uvicorn
import uvloop

from cutset_demo.children import read_configuration, report_ready, when_told_to_go
from cutset_demo.pages import application
from cutset_demo.replica import CHANNEL_OPTIONS, Handlers, Replica, callees, start_server
from cutset_demo.services import (
    ad,
    cache,
    cart,
    checkout,
    currency,
    email,
    frontend,
    payment,
    productcatalog,
    recommendation,
    shipping,
)
from cutset_demo.stores import open_stores
from cutset_demo.telemetry import span_processor, tracer_of

GRACE_SECONDS = 1  # for requests in flight when the node is told to go
KEEP_ALIVE_SECONDS = 7200  # longer than a proxy keeps an idle connection: a reset in between would look like a fault
HTTP_BACKLOG = 2048  # connections waiting to be accepted; a wave of experiments arrives at once
COLLECT_AFTER_ALLOCATIONS = 50_000  # some hundred requests; with Python's 700, every second one had to wait for it

GRPC_SERVICES: dict[str, Handlers] = {
    "productcatalog": productcatalog.HANDLERS,
    "cart": cart.HANDLERS,
    "recommendation": recommendation.HANDLERS,
    "currency": currency.HANDLERS,
    "shipping": shipping.HANDLERS,
    "checkout": checkout.HANDLERS,
    "payment": payment.HANDLERS,
    "paymentbackup": payment.HANDLERS,
    "email": email.HANDLERS,
    "ad": ad.HANDLERS,
    "cache": cache.HANDLERS,
}


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    configuration = read_configuration()
    uvloop.run(
        run_node(
            configuration["listen"],
            configuration["upstreams"],
            configuration["datastores"],
            configuration["otlp_endpoint"],
        )
    )


async def run_node(
    listen: Mapping[str, Mapping[str, str]],
    upstreams: Mapping[str, str],
    datastores: Mapping[str, str],
    otlp_endpoint: str,
) -> None:
    """`listen` is where services listen, by the number of the replica."""
    told_to_go = asyncio.Event()
    loop = asyncio.get_running_loop()
    when_told_to_go(lambda: loop.call_soon_threadsafe(told_to_go.set))
    async with AsyncExitStack() as stack:
        processor = span_processor(otlp_endpoint)
        if processor is not None:
            stack.callback(processor.shutdown)
        stores = await stack.enter_async_context(open_stores(datastores))
        channels = {
            service: await stack.enter_async_context(grpc.aio.insecure_channel(upstreams[service], CHANNEL_OPTIONS))
            for service in GRPC_SERVICES
        }
        methods = callees(channels, GRPC_SERVICES)
        replicas = [
            (Replica(service, tracer_of(service, number, processor), methods, stores), address)
            for number, addresses in listen.items()
            for service, address in addresses.items()
        ]
        served = [(replica, address) for replica, address in replicas if replica.service in GRPC_SERVICES]
        servers = [await start_server(replica, GRPC_SERVICES[replica.service], address) for replica, address in served]
        stack.push_async_callback(_stop, servers)
        for replica, _ in replicas:
            if replica.service == "email":
                await email.confirm_orders(replica)
        await _wait_until_serving(address for _, address in served)
        # What is there now stays: the collector need not look at it again.
        gc.freeze()
        gc.set_threshold(COLLECT_AFTER_ALLOCATIONS)
        pages = [each for each in replicas if each[0].service == "frontend"]
        if pages:
            await _serve_pages(*pages[0], told_to_go)
        else:
            report_ready()
            await told_to_go.wait()


async def _stop(servers: Iterable[grpc.aio.Server]) -> None:
    await asyncio.gather(*(server.stop(GRACE_SECONDS) for server in servers))


async def _wait_until_serving(addresses: Iterable[str]) -> None:
    for address in addresses:
        async with grpc.aio.insecure_channel(address, CHANNEL_OPTIONS) as channel:
            await channel.channel_ready()


async def _serve_pages(replica: Replica, address: str, told_to_go: asyncio.Event) -> None:
    host, port = address.split(":")
    server = uvicorn.Server(
        uvicorn.Config(
            application(replica, frontend.ROUTES, frontend.SESSION_COOKIE),
            http="httptools",  # in C; where it is missing, uvicorn would take one in Python
            lifespan="off",
            proxy_headers=False,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
    )
    # The socket listens from here on: who connects early waits, and is answered.
    with socket.create_server((host, int(port)), backlog=HTTP_BACKLOG) as listener:
        report_ready()
        async with asyncio.TaskGroup() as tasks:
            stopping = tasks.create_task(_stop_when(told_to_go, server))
            await server.serve([listener])
            stopping.cancel()


async def _stop_when(told_to_go: asyncio.Event, server: uvicorn.Server) -> None:
    await told_to_go.wait()
    server.should_exit = True


if __name__ == "__main__":
    main()
