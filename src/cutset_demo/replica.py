"""One replica of one service: what its handlers call others with, and how its gRPC methods are served."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import Message
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer

from cutset_demo.methods import Method, Reply, Request
from cutset_demo.stores import Stores
from cutset_demo.telemetry import extract, inject, record

DEADLINE_SECONDS = 2.0  # of a call that names no deadline of its own

_NO_PINGS = ("grpc.http2.bdp_probe", 0)  # gRPC would ping with most calls, to learn a bandwidth that loopback has

CHANNEL_OPTIONS = (
    _NO_PINGS,
    ("grpc.enable_retries", 0),  # retrying is the mesh's decision
    ("grpc.enable_http_proxy", 0),  # a proxy from the environment cannot reach loopback
    # Milliseconds. By default a callee that came back stays unreachable for up to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)
SERVER_OPTIONS = (
    _NO_PINGS,
    ("grpc.so_reuseport", 0),  # a port taken twice must fail, not share its requests
)

logger = logging.getLogger(__name__)

ATTEMPT: ContextVar[int] = ContextVar("attempt", default=1)  # of the mesh, of the call that is being served

Callees = Mapping[tuple[str, str], grpc.aio.UnaryUnaryMultiCallable[Any, Any]]
MethodHandler = Callable[["Replica", Any], Awaitable[Message]]
Handlers = Mapping[Method[Any, Any], MethodHandler]


class RefusedError(Exception):
    """The request itself cannot be served; no dependency failed."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class DependencyError(Exception):
    """A call to another service failed. Its text: what for, which call, and why, or at least with which status."""

    def __init__(self, service: str, method: Method[Any, Any], failure: grpc.aio.AioRpcError) -> None:
        self.code = failure.code()
        point = f"{service}/{method.name}"
        # Whoever else may have answered in the service's place tells no more than the status does.
        _, _, reason = (failure.details() or "").partition(f"{point}: ")
        super().__init__(f"could not {method.purpose} ({point}: {reason or self.code.name})")


@dataclass(frozen=True, slots=True)
class Replica:
    service: str
    tracer: Tracer
    callees: Callees
    stores: Stores

    async def call(
        self,
        service: str,
        method: Method[Request, Reply],
        request: Request,
        *,
        deadline_seconds: float | None = DEADLINE_SECONDS,
        context: Context | None = None,
    ) -> Reply:
        with record(self.tracer, method.full_name, SpanKind.CLIENT, _rpc_attributes(method), context) as span:
            try:
                reply: Reply = await self.callees[service, method.full_name](
                    request, timeout=deadline_seconds, metadata=tuple(inject())
                )
            except grpc.aio.AioRpcError as failure:
                span.set_attribute("rpc.grpc.status_code", failure.code().value[0])
                raise DependencyError(service, method, failure) from failure
            span.set_attribute("rpc.grpc.status_code", 0)
            return reply


def callees(channels: Mapping[str, grpc.aio.Channel], served: Mapping[str, Handlers]) -> Callees:
    """Every method of every service, ready to call: making a stub per call would cost more than the call."""
    return {
        (service, method.full_name): channels[service].unary_unary(
            f"/{method.full_name}",
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.reply.FromString,
        )
        for service, handlers in served.items()
        for method in handlers
    }


async def start_server(replica: Replica, handlers: Handlers, address: str) -> grpc.aio.Server:
    server = grpc.aio.server(options=SERVER_OPTIONS)
    for method, handler in handlers.items():
        endpoint = grpc.unary_unary_rpc_method_handler(
            _endpoint(replica, method, handler),
            request_deserializer=method.request.FromString,
            response_serializer=method.reply.SerializeToString,
        )
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(method.rpc_service, {method.name: endpoint}),)
        )
    server.add_insecure_port(address)
    await server.start()
    return server


def _endpoint(
    replica: Replica, method: Method[Any, Any], handler: MethodHandler
) -> Callable[[Message, grpc.aio.ServicerContext[Any, Any]], Awaitable[Message]]:
    attributes = _rpc_attributes(method)

    async def serve(request: Message, call: grpc.aio.ServicerContext[Any, Any]) -> Message:
        metadata = [(name, str(value)) for name, value in call.invocation_metadata() or ()]
        ATTEMPT.set(int(dict(metadata).get("x-envoy-attempt-count", "1")))
        parent = extract(metadata)
        with record(replica.tracer, method.full_name, SpanKind.SERVER, attributes, parent) as span:
            try:
                reply = await handler(replica, request)
            except Exception as error:  # noqa: BLE001 - whatever went wrong, the caller gets a status
                code, details = _refusal(replica, method, error)
                span.set_attribute("rpc.grpc.status_code", code.value[0])
                span.set_status(Status(StatusCode.ERROR, details))
            else:
                span.set_attribute("rpc.grpc.status_code", 0)
                return reply
        await call.abort(code, details)
        raise AssertionError("abort always raises")

    return serve


def _refusal(replica: Replica, method: Method[Any, Any], error: Exception) -> tuple[grpc.StatusCode, str]:
    """The name of the method in front tells the caller that these are the service's own words."""
    if isinstance(error, RefusedError):
        code, reason = error.code, str(error)
    elif isinstance(error, DependencyError):
        # Never UNAVAILABLE, whatever the dependency said: the mesh retries that, and retries would multiply per hop.
        code, reason = grpc.StatusCode.INTERNAL, str(error)
    else:
        logger.error("%s: %s failed", replica.service, method.full_name, exc_info=error)
        code, reason = grpc.StatusCode.INTERNAL, f"{type(error).__name__}: {' '.join(str(error).split())}"
    return code, f"{replica.service}/{method.name}: {reason}"


def _rpc_attributes(method: Method[Any, Any]) -> dict[str, str | int]:
    return {"rpc.system": "grpc", "rpc.service": method.rpc_service, "rpc.method": method.name}
