"""What a gRPC method takes and gives: by a descriptor set (`protoc --descriptor_set_out`), or as the server tells.

Server reflection is asked for as version 1, and as 1alpha where that is all there is: their messages are the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import (
    any_pb2,
    descriptor_pool,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    message_factory,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError, Message
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse

from cutset.errors import InputError, TargetError, UsageError
from cutset.model.wording import did_you_mean, known_names, sentences

_SERVICES = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")
_MOST_FILES = 1000  # that a server may tell of: more is no system of anybody's
_ANSWER_SECONDS = 10.0
# A server that refuses a stream before our question was written makes grpcio forget why, and say this instead.
_LOST_STATUS = "Internal error from Core"
_ATTEMPTS = 5

# Sets that were made without their imports lack these.
_USUAL = (any_pb2, duration_pb2, empty_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)
_USUAL_FILES = {module.DESCRIPTOR.name: module.DESCRIPTOR.serialized_pb for module in _USUAL}

Files = Mapping[str, FileDescriptorProto]


@dataclass(frozen=True, slots=True)
class GrpcMethod:
    path: str  # `/package.Service/Method`
    request: type[Message]
    answer: type[Message]
    takes_stream: bool
    gives_stream: bool
    pool: descriptor_pool.DescriptorPool


def method_of(name: str, files: Files, source: str) -> GrpcMethod:
    """`source` is where the files are from, for messages."""
    service_name, _, method_name = name.rpartition("/")
    pool = descriptor_pool.DescriptorPool()
    try:
        _add_all(pool, files, source)
        service = pool.FindServiceByName(service_name)
    except KeyError:
        known = [f"{each.package}.{one.name}".lstrip(".") for each in files.values() for one in each.service]
        hint = sentences(did_you_mean(service_name, known), known_names(known))
        raise UsageError(f"`{name}`: {source} knows no service `{service_name}`", hint=hint) from None
    methods = {method.name: method for method in service.methods}
    if method_name not in methods:
        hint = sentences(did_you_mean(method_name, methods), known_names(methods))
        raise UsageError(f"`{name}`: {source} knows no method `{method_name}` of that service", hint=hint)
    method = methods[method_name]
    return GrpcMethod(
        f"/{name}",
        message_factory.GetMessageClass(method.input_type),
        message_factory.GetMessageClass(method.output_type),
        method.client_streaming,
        method.server_streaming,
        pool,
    )


def read_descriptors(path: Path) -> Files:
    try:
        files = FileDescriptorSet.FromString(path.read_bytes()).file
    except OSError as error:
        raise UsageError(f"Cannot read the descriptor set `{path}`: {error.strerror}") from None
    except DecodeError:
        files = []  # type: ignore[assignment]
    if not files:
        raise InputError(
            f"`{path}` is no descriptor set",
            hint=f"Make one with `protoc --include_imports --descriptor_set_out={path.name} FILE.proto`",
        )
    return {file.name: file for file in files}


async def reflected(channel: grpc.aio.Channel, name: str) -> Files:
    """The files that the service of a method needs, as the server tells."""
    service = name.rpartition("/")[0]
    for reflection in _SERVICES:
        try:
            if (files := await _reflected_by(channel, reflection, service)) is not None:
                return files
        except grpc.aio.AioRpcError as error:
            raise TargetError(
                f"`{name}`: server reflection failed: {error.code().name}, {error.details()}",
                hint="See whether the target is healthy, or give a descriptor set: `descriptor: shop.protoset`",
            ) from None
    raise UsageError(
        f"`{name}`: the server has no reflection, so that nobody knows what it takes",
        hint="Give a descriptor set (`descriptor: shop.protoset`), or register reflection in the server",
    )


async def _reflected_by(channel: grpc.aio.Channel, reflection: str, service: str) -> Files | None:
    """None if the server does not know this version of reflection."""
    attempts_left = _ATTEMPTS
    while True:
        attempts_left -= 1
        stream = channel.stream_stream(
            f"/{reflection}/ServerReflectionInfo",
            request_serializer=ServerReflectionRequest.SerializeToString,
            response_deserializer=ServerReflectionResponse.FromString,
        )(timeout=_ANSWER_SECONDS)
        try:
            return await _ask(stream, service)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                return None
            if error.details() != _LOST_STATUS or not attempts_left:
                raise
        finally:
            stream.cancel()


async def _ask(stream: Any, service: str) -> Files:
    files: dict[str, FileDescriptorProto] = {}
    asked: set[str] = set()
    questions = [ServerReflectionRequest(file_containing_symbol=service)]
    while questions and len(files) < _MOST_FILES:
        await stream.write(questions.pop())
        answer = await stream.read()
        if answer is grpc.aio.EOF:
            break
        if answer.HasField("error_response"):
            problem = answer.error_response.error_message
            raise UsageError(
                f"The server knows no service `{service}`: {problem}",
                hint="Name it as in its .proto file, with the package: `package.Service/Method`",
            )
        for content in answer.file_descriptor_response.file_descriptor_proto:
            file = FileDescriptorProto.FromString(content)
            files[file.name] = file
        missing = {needed for file in files.values() for needed in file.dependency} - files.keys() - asked
        asked |= missing
        questions += [ServerReflectionRequest(file_by_filename=each) for each in sorted(missing)]
    return files


def _add_all(pool: descriptor_pool.DescriptorPool, files: Files, source: str) -> None:
    """Each after those that it needs."""
    added: set[str] = set()

    def add(name: str) -> None:
        if name in added:
            return
        added.add(name)
        file = files.get(name) or FileDescriptorProto.FromString(_USUAL_FILES.get(name, b""))
        if not file.name:
            raise InputError(f"{source} lacks the file `{name}`", hint="Make it with `protoc --include_imports`")
        for needed in file.dependency:
            add(needed)
        try:
            pool.Add(file)
        except TypeError as error:
            raise InputError(f"{source}: the file `{name}` contradicts itself: {error}") from None

    for name in files:
        add(name)
