"""A WebSocket request: the upgrade carries the plan, and the first message that comes back is the answer.

Faults are injected when calls begin, so that what fails once messages flow is what the service calls for them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from cutset.model.request import Errand, Response
from cutset.workload.filling import fill, fill_json
from cutset.workload.functions import JSON_TYPE, TEXT_TYPE
from cutset.workload.send import BODY_LIMIT, open_client

SWITCHING = 101  # the status of an upgrade


@dataclass(frozen=True, slots=True)
class SocketRequest:
    path: str
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    message: object = field(default=None, hash=False)  # sent first: a text, else as JSON; a list: one after another
    answers: int = 0  # as a list; 0: the first one alone


async def run_socket(request: SocketRequest, errand: Errand) -> Response:
    headers = {name: fill(value, errand.values) for name, value in request.headers.items()} | dict(errand.headers)
    url = errand.url + fill(request.path, errand.values)
    try:
        async with open_client(1) as client, client.ws_connect(url, headers=headers, max_msg_size=BODY_LIMIT) as socket:
            for message in _messages(request.message):
                filled = fill_json(message, errand.values)
                await socket.send_str(filled if isinstance(filled, str) else json.dumps(filled))
            answers = [await _answer(socket) for _ in range(request.answers or 1)]
    except aiohttp.WSServerHandshakeError as error:
        text = f"the upgrade to WebSocket was answered {error.status}"
        told = tuple((error.headers or {}).items())
        return Response(error.status, TEXT_TYPE, text.encode(), headers=told, exchanges=1)
    except aiohttp.ClientConnectorError as error:
        return Response(error=f"could not connect ({error.os_error})", sent=False)
    except (aiohttp.ClientError, _ClosedError) as error:
        return Response(error=str(error) or type(error).__name__, exchanges=1)
    if request.answers:
        return Response(SWITCHING, JSON_TYPE, json.dumps([_read(each) for each in answers]).encode(), exchanges=1)
    is_json = not isinstance(_read(answers[0]), str)
    return Response(SWITCHING, JSON_TYPE if is_json else TEXT_TYPE, answers[0].encode(), exchanges=1)


class _ClosedError(Exception):
    """There is no answer; the text says why."""


def _messages(message: object) -> list[object]:
    return message if isinstance(message, list) else [] if message is None else [message]


async def _answer(socket: aiohttp.ClientWebSocketResponse) -> str:
    received = await socket.receive()
    match received.type:
        case aiohttp.WSMsgType.TEXT:
            return str(received.data)
        case aiohttp.WSMsgType.BINARY:
            return bytes(received.data).decode(errors="replace")
        case aiohttp.WSMsgType.CLOSE | aiohttp.WSMsgType.CLOSED | aiohttp.WSMsgType.CLOSING:
            raise _ClosedError(f"the WebSocket was closed with {socket.close_code} before it answered")
        case _:
            raise _ClosedError(f"the WebSocket failed before it answered: {socket.exception() or received.type.name}")


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
