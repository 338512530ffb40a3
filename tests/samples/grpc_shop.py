"""A small gRPC server of every kind of method, with reflection or without, and the descriptor set of what it serves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_reflection.v1alpha import reflection
from grpc_tools import protoc

PROTO = """
syntax = "proto3";
package parcel;
import "google/protobuf/timestamp.proto";
message Order { string id = 1; int32 pieces = 2; google.protobuf.Timestamp at = 3; repeated string tags = 4; }
message Parcel { string of = 1; int32 number = 2; int64 grams = 3; repeated string seen = 4; }
service Parcels {
  rpc Send(Order) returns (Parcel);
  rpc Watch(Order) returns (stream Parcel);
  rpc Gather(stream Order) returns (Parcel);
  rpc Exchange(stream Order) returns (stream Parcel);
}
"""


def descriptor_set(folder: Path) -> Path:
    """As users make it."""
    (folder / "parcel.proto").write_text(PROTO)
    path = folder / "parcel.protoset"
    words = ["", f"-I{folder}", "--include_imports", f"--descriptor_set_out={path}", "parcel.proto"]
    well_known = Path(protoc.__file__).parent / "_proto"
    assert protoc.main([*words, f"-I{well_known}"]) == 0
    return path


def _pool(descriptors: Path) -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for file in FileDescriptorSet.FromString(descriptors.read_bytes()).file:
        pool.Add(file)
    return pool


def _handlers(pool: descriptor_pool.DescriptorPool) -> dict[str, grpc.RpcMethodHandler]:
    """`seen` of an answer is the metadata that came with the request."""
    order, parcel = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"parcel.{name}")) for name in ("Order", "Parcel")
    )

    def made(request: Any, number: int, context: Any) -> Any:
        seen = sorted(f"{name}={value}" for name, value in context.invocation_metadata() if not name.startswith("user"))
        return parcel(of=request.id, number=number, grams=1 << 40, seen=seen)

    async def send(request: Any, context: Any) -> Any:
        if request.id == "lost":
            await context.abort(grpc.StatusCode.UNAVAILABLE, "no van today", (("x-depot", "closed"),))
        await context.send_initial_metadata((("x-van", "7"),))
        return made(request, request.pieces, context)

    async def watch(request: Any, context: Any) -> AsyncIterator[Any]:
        for number in range(request.pieces):
            yield made(request, number, context)

    async def gather(requests: AsyncIterator[Any], context: Any) -> Any:
        ids = [request.id async for request in requests]
        return parcel(of="+".join(ids), number=len(ids))

    async def exchange(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        async for request in requests:
            yield made(request, request.pieces, context)

    types = {"request_deserializer": order.FromString, "response_serializer": parcel.SerializeToString}
    return {
        "Send": grpc.unary_unary_rpc_method_handler(send, **types),
        "Watch": grpc.unary_stream_rpc_method_handler(watch, **types),
        "Gather": grpc.stream_unary_rpc_method_handler(gather, **types),
        "Exchange": grpc.stream_stream_rpc_method_handler(exchange, **types),
    }


@asynccontextmanager
async def serving_parcels(descriptors: Path, *, with_reflection: bool = True) -> AsyncIterator[str]:
    """Its URL."""
    pool = _pool(descriptors)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("parcel.Parcels", _handlers(pool)),))
    if with_reflection:
        reflection.enable_server_reflection(("parcel.Parcels", reflection.SERVICE_NAME), server, pool=pool)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await server.stop(None)
