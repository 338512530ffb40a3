"""Answers in the place of gRPC calls that failed, so that a fallback can be tried before anybody has written it.

    caller ──▶ outbound listener ──▶ proxy ──▶ outbound listener, directly ──▶ replicas
                                       └─ failed? ──▶ listener of `<service>-fallback` ──▶ answers

The proxy asks the callee first and remembers what it said. If the call fails, it asks the fallback instead: a service
of the mesh like any other, so that traces show it and plans can fail it too. It repeats the last good answer to the
same request with the same metadata, those of traces apart; without one, it fails or gives an empty message (in
Protocol Buffers: all fields at their defaults).

Calls that carry credentials, and those that stream, pass through in both directions and are never answered here.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from queue import SimpleQueue

import grpc

DIRECT_HEADER = "x-cutset-direct"  # where the callee itself is reached; on calls to it, that they are to go there
FALLBACK_HEADER = "x-cutset-fallback"  # which kind
FALLBACK_AT_HEADER = "x-cutset-fallback-at"
THREADS = 64  # calls under way at once, of each of the two servers: one waits for the other, so they share none
KEPT_ANSWERS = 10_000
LARGEST_ANSWER = 256 * 1024  # bytes; larger ones are not kept
FALLBACK_SHARE, FALLBACK_SECONDS = 0.3, 0.5  # of the caller's deadline, at most: it is answered from memory
ASK_FALLBACK = 2  # times: a connection may be of the mesh as it was before its last restart
END_OF_REQUEST_SECONDS = 0.5  # how long to wait for the end of what a caller sends: with one message it comes with it
NO_DEADLINE_SECONDS = 365 * 86_400  # gRPC says 292 years where there is none, which it does not take as a timeout
# What a caller cannot help. Other codes are answers: that there is no such product, say.
FAILURES = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.DATA_LOSS,
    }
)
# Not to be passed on: they are of one hop, and the next one has its own.
_OF_THE_HOP = re.compile(
    r"grpc-(?!trace-bin$|tags-bin$|status-details-bin$).*|x-envoy-.*|:.*|user-agent|content-type|te"
)
# Differs from request to request without meaning who asks.
_OF_THE_TRACE = re.compile(
    r"traceparent|tracestate|baggage|b3|x-b3-.*|uber-trace-id|uberctx-.*|x-datadog-.*|sentry-trace|grpc-(trace|tags)-bin"
    r"|x-(request|correlation|client-trace)-id|x-amzn-trace-id|x-cloud-trace-context|x-ot-.*|x-forwarded-.*|x-cutset-.*"
)
# Whose answer depends on who asks, or on what they know: an older one would let in who must stay out.
_CREDENTIALS = re.compile(
    r".*(authorization|authentication|cookie|token|jwt|secret|password|credential|api-?key|session).*|x-auth-.*|auth"
)
_UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
_UNLIMITED += [("grpc.max_metadata_size", 64 * 1024), ("grpc.absolute_max_metadata_size", 128 * 1024)]

Metadata = tuple[tuple[str, str | bytes], ...]
GrpcAnswer = Callable[[Iterator[bytes], grpc.ServicerContext], Iterator[bytes]]


class Fallback(StrEnum):
    LAST_GOOD = "last-good"
    LAST_GOOD_OR_EMPTY = "last-good-or-empty"


@dataclass(frozen=True, slots=True)
class StandIn:
    proxy: str  # host:port
    answers: str


@dataclass(frozen=True, slots=True)
class _Asked:
    callee: str
    method: str
    request: bytes
    metadata: Metadata = ()


@dataclass(slots=True)
class _Memory:
    """The latest good answers, to the same bytes and metadata asked of the same method of the same callee."""

    answers: OrderedDict[_Asked, bytes] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, asked: _Asked, answer: bytes) -> None:
        if len(asked.request) + len(answer) > LARGEST_ANSWER:
            return
        with self.lock:
            self.answers[asked] = answer
            self.answers.move_to_end(asked)
            if len(self.answers) > KEPT_ANSWERS:
                self.answers.popitem(last=False)


@contextmanager
def run_stand_in() -> Iterator[StandIn]:
    memory = _Memory()
    channels: dict[str, grpc.Channel] = {}
    servers = [_server(lambda method, given: _proxied(memory, channels, method, given))]
    servers.append(_server(lambda method, given: _answered(memory, method, given)))
    addresses = [f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}" for server in servers]
    for server in servers:
        server.start()
    try:
        yield StandIn(*addresses)
    finally:
        for server in servers:
            server.stop(0).wait()
        for channel in channels.values():
            channel.close()


class _AnyMethod(grpc.GenericRpcHandler):
    def __init__(self, answer: Callable[[str, Mapping[str, str]], GrpcAnswer]) -> None:
        self._answer = answer

    def service(self, details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        given = {name: value for name, value in details.invocation_metadata if isinstance(value, str)}
        # On the wire a call with one message each way is a stream of one, so that this takes every kind.
        return grpc.stream_stream_rpc_method_handler(self._answer(details.method, given))


def _server(answer: Callable[[str, Mapping[str, str]], GrpcAnswer]) -> grpc.Server:
    threads = ThreadPoolExecutor(THREADS, thread_name_prefix="cutset-stand-in")
    return grpc.server(threads, handlers=[_AnyMethod(answer)], options=[("grpc.so_reuseport", 0), *_UNLIMITED])


class _Requests:
    """What the caller sends, handed on as it comes, and whether it was one message and no more."""

    def __init__(self, messages: Iterator[bytes]) -> None:
        self._sent: list[bytes] = []  # the first two at most
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._ended = threading.Event()
        # One of its own: who waits for the next message of a stream cannot be asked anything else meanwhile.
        threading.Thread(target=self._read, args=(messages,), name="cutset-stand-in-reader", daemon=True).start()

    def _read(self, messages: Iterator[bytes]) -> None:
        with suppress(Exception):  # gRPC's own way to say that the call is over
            for message in messages:
                self._sent = [*self._sent, message][:2]
                self._queue.put(message)
            self._ended.set()
        self._queue.put(None)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._queue.get, None)

    def only(self, within: float = 0) -> bytes | None:
        """None if there were several, or none, or more may come, by so many seconds from now."""
        return self._sent[0] if self._ended.wait(within) and len(self._sent) == 1 else None


def _proxied(memory: _Memory, channels: dict[str, grpc.Channel], method: str, given: Mapping[str, str]) -> GrpcAnswer:
    callee, fallback = given[DIRECT_HEADER], given[FALLBACK_AT_HEADER]

    def channel(address: str) -> grpc.Channel:
        return channels.get(address) or channels.setdefault(address, _channel(address))

    def stood_in(request: bytes | None, metadata: Metadata, context: grpc.ServicerContext) -> bytes | None:
        ask: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel(fallback).unary_unary(method)
        for _ in range(ASK_FALLBACK):
            with suppress(grpc.RpcError):
                return None if request is None else ask(request, metadata=metadata, timeout=_left(context))
        return None

    def answer(messages: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        requests, answers = _Requests(messages), 0
        metadata = _passed_on(context.invocation_metadata())
        ask: grpc.StreamStreamMultiCallable[bytes, bytes] = channel(callee).stream_stream(method)
        made = ask(iter(requests), metadata=metadata, timeout=_for_callee(context))
        context.add_callback(partial(_give_up, made))
        try:
            for good in made:
                if not answers:
                    context.send_initial_metadata(_passed_on(made.initial_metadata()))
                answers += 1
                yield good
        except grpc.RpcError as error:
            may = not answers and error.code() in FAILURES and not _proves_who(metadata)
            older = stood_in(requests.only(END_OF_REQUEST_SECONDS), metadata, context) if may else None
            if older is None:
                context.set_trailing_metadata(_passed_on(made.trailing_metadata()))
                context.abort(error.code(), error.details() or "")
            yield older
            return
        if answers == 1 and not _proves_who(metadata) and (request := requests.only()) is not None:
            memory.keep(_Asked(callee, method, request, _who_asks(metadata)), good)
        context.set_trailing_metadata(_passed_on(made.trailing_metadata()))

    return answer


def _answered(memory: _Memory, method: str, given: Mapping[str, str]) -> GrpcAnswer:
    def answer(messages: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        (request,) = messages
        asked = _Asked(given[DIRECT_HEADER], method, request, _who_asks(tuple(context.invocation_metadata())))
        kept = memory.answers.get(asked)
        if kept is None and given[FALLBACK_HEADER] == Fallback.LAST_GOOD:
            context.abort(grpc.StatusCode.UNAVAILABLE, "this request was never answered before")
        yield kept or b""

    return answer


def _give_up(call: grpc.RpcContext) -> None:
    call.cancel()  # nobody waits for it any more


def _proves_who(metadata: Metadata) -> bool:
    return any(_CREDENTIALS.fullmatch(key) for key, _ in metadata)


def _who_asks(metadata: Metadata) -> Metadata:
    return tuple(sorted(((k, v) for k, v in _passed_on(metadata) if not _OF_THE_TRACE.fullmatch(k)), key=repr))


def _left(context: grpc.ServicerContext) -> float | None:
    """Seconds; None if the caller set no deadline."""
    left = context.time_remaining()
    return None if left is None or left > NO_DEADLINE_SECONDS else left


def _for_callee(context: grpc.ServicerContext) -> float | None:
    left = _left(context)
    return None if left is None else left - min(FALLBACK_SHARE * left, FALLBACK_SECONDS)


def _channel(address: str) -> grpc.Channel:
    own = [("grpc.enable_retries", 0), ("grpc.enable_http_proxy", 0), ("grpc.http2.bdp_probe", 0)]
    return grpc.insecure_channel(address, options=[*own, *_UNLIMITED])


def _passed_on(metadata: Iterable[tuple[str, str | bytes]] | None) -> Metadata:
    return tuple((key, value) for key, value in metadata or () if not _OF_THE_HOP.fullmatch(key))
