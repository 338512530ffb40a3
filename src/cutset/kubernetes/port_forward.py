"""Port-forwards: each connection to a port of this machine is a websocket to the API server, which leads to the pod.

kr8s has them too, but in its pool of a hundred connections that all calls share, and it tries a pod that has gone for
ever; experiments need hundreds at a time, and to know at once.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from ssl import SSLContext
from typing import Any

import aiohttp
import kr8s.asyncio
from yarl import URL

LOOPBACK = "127.0.0.1"
CONNECT_SECONDS = 15.0
CHUNK_BYTES = 64 * 1024
PROTOCOL = "v4.channel.k8s.io"
BACKLOG = 512  # connections that wait to be accepted
_DATA, _ERROR = 0, 1  # channels: the first byte of each message; the first message of each has only the port's number


@asynccontextmanager
async def port_forward(api: kr8s.asyncio.Api, namespace: str, pod: str, port: int) -> AsyncIterator[int]:
    """A port of this machine that leads to one on the pod's loopback. What the pod refuses is closed at once.

    Raises aiohttp.ClientError if the API server refuses it.
    """
    url = URL(str(api.auth.server)) / f"api/v1/namespaces/{namespace}/pods/{pod}/portforward"
    # False and True, too, which mean the same to aiohttp.
    context: Any = await api.auth.ssl_context()  # type: ignore[no-untyped-call]
    options: dict[str, Any] = {"ssl": context} if isinstance(context, bool | SSLContext) else {}
    under_way: set[asyncio.Task[Any]] = set()
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, **options),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        trust_env=True,
    ) as session:

        async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            under_way.add(task)
            try:
                await _join(session, api, url.with_query(ports=port), reader, writer)
            except asyncio.CancelledError:
                pass  # the forward ends
            finally:
                under_way.discard(task)
                writer.transport.abort()

        # Once to begin with: whoever may not, or names no pod, is told now and not by broken connections.
        await (await _connected(session, api, url.with_query(ports=port))).close()
        server = await asyncio.start_server(lead, LOOPBACK, 0, backlog=BACKLOG)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for task in tuple(under_way):
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)


async def _join(
    session: aiohttp.ClientSession,
    api: kr8s.asyncio.Api,
    url: URL,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    with suppress(aiohttp.ClientError, TimeoutError, OSError):
        async with await _connected(session, api, url) as socket:
            # Whichever side ends first, the connection has ended: there is no half of one in this protocol.
            ways = [asyncio.ensure_future(_out(reader, socket)), asyncio.ensure_future(_back(socket, writer))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)


async def _connected(
    session: aiohttp.ClientSession, api: kr8s.asyncio.Api, url: URL
) -> aiohttp.ClientWebSocketResponse[Any]:
    """With new credentials, if those that there are have expired."""
    try:
        return await _connect(session, api, url)
    except aiohttp.WSServerHandshakeError as error:
        if error.status != 401:
            raise
        await api.auth.reauthenticate()
        return await _connect(session, api, url)


async def _connect(
    session: aiohttp.ClientSession, api: kr8s.asyncio.Api, url: URL
) -> aiohttp.ClientWebSocketResponse[Any]:
    headers = {"Authorization": f"Bearer {api.auth.token}"} if api.auth.token else {}
    return await session.ws_connect(
        url,
        protocols=(PROTOCOL,),
        headers=headers,
        proxy=api.auth.proxy,
        server_hostname=api.auth.tls_server_name,
        max_msg_size=0,
    )


async def _out(reader: asyncio.StreamReader, socket: aiohttp.ClientWebSocketResponse[Any]) -> None:
    while data := await reader.read(CHUNK_BYTES):
        await socket.send_bytes(bytes([_DATA]) + data)


async def _back(socket: aiohttp.ClientWebSocketResponse[Any], writer: asyncio.StreamWriter) -> None:
    opened: set[int] = set()
    async for message in socket:
        if message.type is not aiohttp.WSMsgType.BINARY or not message.data:
            continue
        channel, content = message.data[0], message.data[1:]
        if channel not in opened:
            opened.add(channel)
            content = content[2:]
        if channel == _ERROR and content:
            return  # nobody listens there, or the pod has gone
        if channel == _DATA and content:
            writer.write(content)
            await writer.drain()
