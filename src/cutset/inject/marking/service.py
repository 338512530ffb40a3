"""Answers Envoy's question about a request (ext_authz over gRPC), and whether it is worth asking (gRPC's health check).

The answer is OK whatever happens: a request that cannot be marked goes on as it is. While nothing may be marked, the
health check says so, and Envoy asks no more.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import grpc.aio

from cutset.inject.marking.check_pb2 import (
    CheckRequest,
    CheckResponse,
    HeaderValue,
    HeaderValueOption,
    HealthCheckResponse,
    OkHttpResponse,
)
from cutset.inject.marking.marker import Marker
from cutset.inject.marking.matching import AskedRequest
from cutset.receive.server import address, listen

AUTHORIZATION = "envoy.service.auth.v3.Authorization"
HEALTH = "grpc.health.v1.Health"
# Of the time that Envoy waits, so much must be left: whose answer comes too late goes on without its mark, and would be
# missed as one of which no span arrived. On a machine that was five times overloaded, one mark of ten was lost without.
LEAST_SECONDS = 0.02
MAX_QUESTION_BYTES = 256 * 1024  # headers that Envoy lets in are 60 KiB at most


@asynccontextmanager
async def serve_marker(marker: Marker, *, host: str, port: int) -> AsyncIterator[str]:
    """Until the block ends; then no answer is given any more, not even to a question that has come."""

    async def check(question: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        left = context.time_remaining()
        if left is not None and left < LEAST_SECONDS:
            return CheckResponse(ok_response=OkHttpResponse()).SerializeToString()
        return answer(marker, question).SerializeToString()

    async def health(_question: bytes, _context: object) -> bytes:
        serving = HealthCheckResponse.SERVING if marker.is_marking else HealthCheckResponse.NOT_SERVING
        return HealthCheckResponse(status=serving).SerializeToString()

    if port:  # gRPC itself would not say why it cannot
        hint = "Another run may be marking already: see `cutset status`; or choose another `mesh.marking_port`"
        listen(host, port, for_what="questions of the mesh's edge", hint=hint).close()
    server = grpc.aio.server(
        options=[("grpc.max_receive_message_length", MAX_QUESTION_BYTES), ("grpc.so_reuseport", 0)]
    )
    for service, method in ((AUTHORIZATION, check), (HEALTH, health)):
        # Without deserialisers a malformed question is ours to answer.
        methods: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {"Check": grpc.unary_unary_rpc_method_handler(method)}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, methods),))
    bound_port = server.add_insecure_port(address(host, port))
    await server.start()
    try:
        yield address(host, bound_port)
    finally:
        await server.stop(None)


def answer(marker: Marker, question: bytes) -> CheckResponse:
    try:
        http = CheckRequest.FromString(question).attributes.request.http
        added = marker.decide(AskedRequest(http.method, http.path, dict(http.headers)))
    except Exception as error:  # noqa: BLE001 -- a user's request must not suffer from whatever is wrong with us
        marker.problem = f"{type(error).__name__}: {error}"
        added = {}
    overwrite = HeaderValueOption.OVERWRITE_IF_EXISTS_OR_ADD
    options = [
        HeaderValueOption(header=HeaderValue(key=name, value=value), append_action=overwrite)
        for name, value in added.items()
    ]
    return CheckResponse(ok_response=OkHttpResponse(headers=options))
