"""A gRPC request: a message as JSON, the plan in its metadata, and the answer as JSON, judged like any other.

Each call has a connection of its own: what happened to another's is no part of this experiment. It has no deadline,
which would travel on to others; whoever waits for it gives up in time.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
from google.protobuf import json_format
from google.protobuf.message import Message

from cutset.errors import UsageError
from cutset.model.request import Errand, Response
from cutset.workload.filling import fill, fill_json
from cutset.workload.functions import JSON_TYPE, TEXT_TYPE
from cutset.workload.grpc.methods import GrpcMethod, method_of, read_descriptors, reflected

ANSWER_BYTES = 16 * 1024 * 1024  # of one message

# https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto
HTTP_STATUSES: Mapping[str, int] = {
    "OK": 200,
    "CANCELLED": 499,
    "UNKNOWN": 500,
    "INVALID_ARGUMENT": 400,
    "DEADLINE_EXCEEDED": 504,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "PERMISSION_DENIED": 403,
    "RESOURCE_EXHAUSTED": 429,
    "FAILED_PRECONDITION": 400,
    "ABORTED": 409,
    "OUT_OF_RANGE": 400,
    "UNIMPLEMENTED": 501,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DATA_LOSS": 500,
    "UNAUTHENTICATED": 401,
}
_NOT_METADATA = frozenset({"host", "content-type", "te", "user-agent"})


@dataclass(frozen=True, slots=True)
class GrpcRequest:
    method: str  # `package.Service/Method`
    message: object = field(default=None, hash=False)  # a list: one after another, where the method takes a stream
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    descriptor: Path | None = None  # none: the server tells by reflection
    url: str = ""  # of another service than the target's
    answers: int = 0  # of a stream, as a list; 0: the first one alone


async def run_grpc(request: GrpcRequest, known: dict[str, GrpcMethod], errand: Errand) -> Response:
    """`known` is where the method is kept, so that it is asked for once."""
    headers = {name.lower(): fill(value, errand.values) for name, value in request.headers.items()}
    url = request.url or errand.url
    async with _open(url, headers.get("host", "")) as channel:
        if not await _connects(channel):
            return Response(error=f"could not connect to {urlsplit(url).netloc.rpartition('@')[2]}", sent=False)
        if request.method not in known:
            known[request.method] = await _method(request, channel)
        method = known[request.method]
        messages = _messages(request, method, errand.values)
        carried = headers | {name.lower(): value for name, value in errand.headers.items()}
        metadata = tuple((name, value) for name, value in carried.items() if name not in _NOT_METADATA)
        call = _started(channel, method, messages, metadata)
        try:
            answers = await _answers(call, method, request.answers or 1)
        except grpc.aio.AioRpcError as error:
            return _failed(error)
        finally:
            call.cancel()
        told = (*_texts(await call.initial_metadata()), ("grpc-status", "0"))
    documents = [_document(answer, method) for answer in answers]
    shown = documents if request.answers else next(iter(documents), None)
    return Response(200, JSON_TYPE, json.dumps(shown).encode(), headers=told, exchanges=1)


@asynccontextmanager
async def _open(url: str, authority: str) -> AsyncIterator[grpc.aio.Channel]:
    parts = urlsplit(url)
    if parts.path.strip("/"):
        raise UsageError(f"The URL `{url}` has a path, which gRPC knows nothing of", hint="Leave it out")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    options: list[tuple[str, Any]] = [
        ("grpc.enable_retries", 0),
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_http_proxy", 0),
        ("grpc.max_receive_message_length", ANSWER_BYTES),
        *([("grpc.default_authority", authority)] if authority else []),
    ]
    address = f"{host}:{port}"
    if parts.scheme == "https":
        opened = grpc.aio.secure_channel(address, grpc.ssl_channel_credentials(), options)
    else:
        opened = grpc.aio.insecure_channel(address, options)
    async with opened as channel:
        yield channel


async def _connects(channel: grpc.aio.Channel) -> bool:
    state = channel.get_state(try_to_connect=True)
    while state is not grpc.ChannelConnectivity.READY:
        if state in (grpc.ChannelConnectivity.TRANSIENT_FAILURE, grpc.ChannelConnectivity.SHUTDOWN):
            return False
        await channel.wait_for_state_change(state)
        state = channel.get_state(try_to_connect=True)
    return True


async def _method(request: GrpcRequest, channel: grpc.aio.Channel) -> GrpcMethod:
    if request.descriptor:
        return method_of(request.method, read_descriptors(request.descriptor), f"`{request.descriptor}`")
    return method_of(request.method, await reflected(channel, request.method), "the server")


def _messages(request: GrpcRequest, method: GrpcMethod, values: Mapping[str, str]) -> list[Message]:
    given = request.message if isinstance(request.message, list | tuple) else [request.message or {}]
    if len(given) != 1 and not method.takes_stream:
        raise UsageError(f"`{request.method}` takes one message, and `message` has {len(given)}")
    try:
        return [
            json_format.ParseDict(_mapping(fill_json(each, values)), method.request(), descriptor_pool=method.pool)
            for each in given
        ]
    except (json_format.ParseError, AttributeError, TypeError) as error:
        name = method.request.DESCRIPTOR.full_name
        raise UsageError(
            f"The `message` of `{request.method}` is no {name}: {error}",
            hint="Fields are named as in the .proto file; 64-bit numbers may be texts, bytes are base64",
        ) from None


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"expected a mapping, found `{str(value)[:60]}`")
    return value


def _started(
    channel: grpc.aio.Channel, method: GrpcMethod, messages: Sequence[Message], metadata: tuple[tuple[str, str], ...]
) -> Any:
    kinds: Mapping[tuple[bool, bool], Callable[..., Any]] = {
        (False, False): channel.unary_unary,
        (False, True): channel.unary_stream,
        (True, False): channel.stream_unary,
        (True, True): channel.stream_stream,
    }
    stub = kinds[method.takes_stream, method.gives_stream](
        method.path,
        request_serializer=method.request.SerializeToString,
        response_deserializer=method.answer.FromString,
    )
    return stub(iter(messages) if method.takes_stream else messages[0], metadata=metadata)


async def _answers(call: Any, method: GrpcMethod, wanted: int) -> list[Message]:
    """Those of a stream as far as they are wanted; how it would have ended is no part of the answer then."""
    if not method.gives_stream:
        return [await call]
    answers: list[Message] = []
    async for answer in call:
        answers.append(answer)
        if len(answers) == wanted:
            break
    return answers


def _document(answer: Message, method: GrpcMethod) -> dict[str, Any]:
    """With fields that have their default, too: that a list is empty is worth knowing."""
    return json_format.MessageToDict(
        answer,
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
        descriptor_pool=method.pool,
    )


def _failed(error: grpc.aio.AioRpcError) -> Response:
    number, name = error.code().value[0], error.code().name
    told = (*_texts(error.initial_metadata()), *_texts(error.trailing_metadata()), ("grpc-status", str(number)))
    text = f"grpc {number} {name}: {error.details() or 'without a message'}"
    return Response(HTTP_STATUSES[name], TEXT_TYPE, text.encode(), headers=told, exchanges=1)


def _texts(metadata: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in metadata or () if isinstance(value, str)]
