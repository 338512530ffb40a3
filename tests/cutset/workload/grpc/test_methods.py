import asyncio
from pathlib import Path

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from tests.samples.grpc_shop import descriptor_set, serving_parcels

from cutset.errors import InputError, UsageError
from cutset.workload.grpc.methods import Files, method_of, read_descriptors, reflected


@pytest.fixture(scope="module")
def descriptors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return descriptor_set(tmp_path_factory.mktemp("protos"))


def told(descriptors: Path, name: str, *, with_reflection: bool = True) -> Files:
    async def run() -> Files:
        async with (
            serving_parcels(descriptors, with_reflection=with_reflection) as url,
            grpc.aio.insecure_channel(url.removeprefix("http://")) as channel,
        ):
            return await reflected(channel, name)

    return asyncio.run(run())


def test_a_server_tells_what_a_descriptor_set_holds(descriptors):
    assert told(descriptors, "parcel.Parcels/Send").keys() == read_descriptors(descriptors).keys()


@pytest.mark.parametrize(
    ("name", "streams"), [("Send", (False, False)), ("Watch", (False, True)), ("Gather", (True, False))]
)
def test_a_method_has_its_messages_and_streams(descriptors, name, streams):
    method = method_of(f"parcel.Parcels/{name}", read_descriptors(descriptors), "it")
    assert (method.path, method.takes_stream, method.gives_stream) == (f"/parcel.Parcels/{name}", *streams)
    assert method.request.DESCRIPTOR.full_name == "parcel.Order"
    assert method.answer(number=3).number == 3


def test_usual_files_of_google_need_not_be_in_the_set(descriptors, tmp_path):
    own = [file for file in read_descriptors(descriptors).values() if file.package == "parcel"]
    (tmp_path / "bare.protoset").write_bytes(FileDescriptorSet(file=own).SerializeToString())
    assert (
        method_of("parcel.Parcels/Send", read_descriptors(tmp_path / "bare.protoset"), "it").request(id="a").id == "a"
    )


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("parcel.Parsels/Send", "it knows no service `parcel.Parsels`", "Did you mean `parcel.Parcels`?"),
        ("parcel.Parcels/Sent", "it knows no method `Sent` of that service", "Did you mean `Send`?"),
    ],
)
def test_another_name_is_corrected(descriptors, name, message, hint):
    with pytest.raises(UsageError) as caught:
        method_of(name, read_descriptors(descriptors), "it")
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_server_without_reflection_or_without_the_service_is_told(descriptors):
    with pytest.raises(UsageError, match="has no reflection") as caught:
        told(descriptors, "parcel.Parcels/Send", with_reflection=False)
    assert "descriptor: shop.protoset" in caught.value.hint
    with pytest.raises(UsageError, match=r"The server knows no service `other.Service`"):
        told(descriptors, "other.Service/Method")


@pytest.mark.parametrize("content", [b"", b"syntax = 'proto3';", b"\x0a\xff\xff\xff"])
def test_what_is_no_descriptor_set_is_told(tmp_path, content):
    (tmp_path / "x.proto").write_bytes(content)
    with pytest.raises(InputError, match="is no descriptor set") as caught:
        read_descriptors(tmp_path / "x.proto")
    assert caught.value.hint == "Make one with `protoc --include_imports --descriptor_set_out=x.proto FILE.proto`"


def test_a_set_that_lacks_a_file_is_told(descriptors):
    files = {name: file for name, file in read_descriptors(descriptors).items() if file.package == "parcel"}
    (own,) = files.values()
    own.dependency.append("depots/depot.proto")
    with pytest.raises(InputError, match=r"`x.protoset` lacks the file `depots/depot.proto`"):
        method_of("parcel.Parcels/Send", files, "`x.protoset`")
