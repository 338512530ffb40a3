"""Answers in the place of gRPC calls that failed, so that a fallback can be tried before anybody has written it.

    caller ──▶ outbound listener ──▶ proxy ──▶ outbound listener, directly ──▶ replicas
                                       └─ failed? ──▶ listener of `<service>-fallback` ──▶ answers

The proxy asks the callee first and remembers what it said. If the call fails, it asks the fallback instead: a service
of the mesh like any other, so that traces show it and plans can fail it too. It repeats the last good answer to the
same request; without one, it fails or gives an empty message (in Protocol Buffers: all fields at their defaults).
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

import grpc

DIRECT_HEADER = "x-cutset-direct"  # where the callee itself is reached; on calls to it, that they are to go there
FALLBACK_HEADER = "x-cutset-fallback"  # which kind
FALLBACK_AT_HEADER = "x-cutset-fallback-at"
THREADS = 64  # calls under way at once, of each of the two servers: one waits for the other, so they share none
KEPT_ANSWERS = 10_000
LARGEST_ANSWER = 256 * 1024  # bytes; larger ones are not kept
CALLEE_SHARE = 0.7  # of the caller's deadline: the rest is for the fallback
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
_OF_THE_HOP = ("grpc-", "x-envoy-", "x-forwarded-", ":", "user-agent", "content-type", "te")  # not to be passed on

Metadata = tuple[tuple[str, str | bytes], ...]
GrpcAnswer = Callable[[bytes, grpc.ServicerContext], bytes]


class Fallback(StrEnum):
    LAST_GOOD = "last-good"
    LAST_GOOD_OR_EMPTY = "last-good-or-empty"


@dataclass(frozen=True, slots=True)
class StandIn:
    proxy: str  # host:port
    answers: str


@dataclass(slots=True)
class _Memory:
    """The latest good answers, to the same bytes asked of the same method of the same callee."""

    answers: OrderedDict[tuple[str, str, bytes], bytes] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, callee: str, method: str, request: bytes, answer: bytes) -> None:
        if len(request) + len(answer) > LARGEST_ANSWER:
            return
        with self.lock:
            self.answers[callee, method, request] = answer
            self.answers.move_to_end((callee, method, request))
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
        return grpc.unary_unary_rpc_method_handler(self._answer(details.method, given))


def _server(answer: Callable[[str, Mapping[str, str]], GrpcAnswer]) -> grpc.Server:
    threads = ThreadPoolExecutor(THREADS, thread_name_prefix="cutset-stand-in")
    return grpc.server(threads, handlers=[_AnyMethod(answer)], options=[("grpc.so_reuseport", 0)])


def _proxied(memory: _Memory, channels: dict[str, grpc.Channel], method: str, given: Mapping[str, str]) -> GrpcAnswer:
    def ask(address: str, request: bytes, context: grpc.ServicerContext, share: float) -> tuple[bytes, Metadata]:
        channel = channels.get(address) or channels.setdefault(address, _channel(address))
        left = context.time_remaining()
        callee: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)
        answer, call = callee.with_call(
            request, metadata=_passed_on(context), timeout=None if left is None else left * share
        )
        return answer, tuple(call.trailing_metadata() or ())

    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        callee = given[DIRECT_HEADER]
        try:
            good, trailing = ask(callee, request, context, CALLEE_SHARE)
        except grpc.RpcError as error:
            if error.code() not in FAILURES:
                context.abort(error.code(), error.details() or "")
            try:
                return ask(given[FALLBACK_AT_HEADER], request, context, 1.0)[0]
            except grpc.RpcError:
                context.abort(error.code(), error.details() or "")
        memory.keep(callee, method, request, good)
        context.set_trailing_metadata(tuple(pair for pair in trailing if not pair[0].startswith(_OF_THE_HOP)))
        return good

    return answer


def _answered(memory: _Memory, method: str, given: Mapping[str, str]) -> GrpcAnswer:
    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        kept = memory.answers.get((given[DIRECT_HEADER], method, request))
        if kept is None and given[FALLBACK_HEADER] == Fallback.LAST_GOOD:
            context.abort(grpc.StatusCode.UNAVAILABLE, "this request was never answered before")
        return kept or b""

    return answer


def _channel(address: str) -> grpc.Channel:
    return grpc.insecure_channel(
        address, options=[("grpc.enable_retries", 0), ("grpc.enable_http_proxy", 0), ("grpc.http2.bdp_probe", 0)]
    )


def _passed_on(context: grpc.ServicerContext) -> Metadata:
    return tuple((key, value) for key, value in context.invocation_metadata() if not key.startswith(_OF_THE_HOP))
