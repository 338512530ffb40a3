import asyncio
import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.samples.grpc_shop import descriptor_set, serving_parcels

from cutset.errors import UsageError
from cutset.inject.local.mesh import run_mesh
from cutset.inject.plan import plan_headers
from cutset.model.fault import BASELINE
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.request import Errand, Request, Response, WorkloadStep
from cutset.workload.grpc.send import HTTP_STATUSES, GrpcRequest, run_grpc
from cutset.workload.send import open_client, send

PLAN = {"traceparent": "00-1-2-01", "tracestate": "cutset=plan", "Baggage": "a=b"}


@pytest.fixture(scope="module")
def descriptors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return descriptor_set(tmp_path_factory.mktemp("protos"))


def answer(descriptors: Path, method: str, message: object, *, url: str = "", **options: Any) -> Response:
    known: dict[str, Any] = {}
    grpc_request = GrpcRequest(f"parcel.Parcels/{method}", message, **options)

    async def run() -> Response:
        reflects = grpc_request.descriptor is None
        async with serving_parcels(descriptors, with_reflection=reflects) as served, open_client(1) as client:
            return await send(
                client,
                Request("parcel", WorkloadStep(method, partial(run_grpc, grpc_request, known))),
                base_url=url or served,
                plan=lambda: PLAN,
                setup_headers=dict,
                timeout=20.0,
                session="s1",
            )

    return asyncio.run(run())


@pytest.mark.parametrize("by", ["reflection", "descriptor set"])
def test_the_message_is_filled_in_and_the_answer_is_json(descriptors, by):
    message = {"id": "{session}", "pieces": 2, "at": "2026-01-01T00:00:00Z"}
    options = {"descriptor": descriptors} if by == "descriptor set" else {}
    response = answer(descriptors, "Send", message, headers={"X-Tenant": "{session}", "Host": "shop.test"}, **options)

    assert (response.status, response.content_type, response.exchanges) == (200, "application/json", 1)
    assert json.loads(response.body) == {
        "of": "s1",
        "number": 2,
        "grams": str(1 << 40),
        "seen": ["baggage=a=b", "traceparent=00-1-2-01", "tracestate=cutset=plan", "x-tenant=s1"],
    }
    assert (response.header("x-van"), response.header("grpc-status")) == ("7", "0")


def test_an_error_has_the_status_that_http_has_for_it_and_its_own_stays_visible(descriptors):
    response = answer(descriptors, "Send", {"id": "lost"})

    assert (response.status, response.body) == (503, b"grpc 14 UNAVAILABLE: no van today")
    assert (response.header("grpc-status"), response.header("x-depot")) == ("14", "closed")
    assert (response.error, response.sent) == ("", True)


@pytest.mark.parametrize(
    ("answers", "numbers"), [(0, 0), (1, [0]), (2, [0, 1]), (9, [0, 1, 2])], ids=["first", "one", "two", "all"]
)
def test_a_stream_is_read_as_far_as_it_is_wanted(descriptors, answers, numbers):
    found = json.loads(answer(descriptors, "Watch", {"id": "a", "pieces": 3}, answers=answers).body)
    assert ([each["number"] for each in found] if answers else found["number"]) == numbers


def test_a_stream_without_any_answer_is_empty(descriptors):
    assert answer(descriptors, "Watch", {"id": "a"}).body == b"null"


def test_a_list_of_messages_is_a_stream(descriptors):
    gathered = answer(descriptors, "Gather", [{"id": "a"}, {"id": "b"}])
    assert json.loads(gathered.body) == {"of": "a+b", "number": 2, "grams": "0", "seen": []}
    exchanged = answer(descriptors, "Exchange", [{"id": "a"}, {"id": "b"}], answers=2)
    assert [each["of"] for each in json.loads(exchanged.body)] == ["a", "b"]


@pytest.mark.parametrize(
    ("method", "message", "problem"),
    [
        ("Send", {"idd": "a"}, "The `message` of `parcel.Parcels/Send` is no parcel.Order: Message type"),
        ("Send", {"pieces": "many"}, "is no parcel.Order"),
        ("Send", "text", "is no parcel.Order: expected a mapping, found `text`"),
        ("Send", [{}, {}], "`parcel.Parcels/Send` takes one message, and `message` has 2"),
        ("Sent", {}, "the server knows no method `Sent` of that service"),
    ],
)
def test_what_cannot_be_sent_is_no_experiment(descriptors, method, message, problem):
    with pytest.raises(UsageError) as caught:
        answer(descriptors, method, message)
    assert problem in caught.value.message


def test_nobody_there_is_no_experiment_either(descriptors):
    response = answer(descriptors, "Send", {}, url="http://127.0.0.1:1")
    assert (response.error, response.sent) == ("could not connect to 127.0.0.1:1", False)


def test_a_path_in_the_url_is_refused(descriptors):
    with pytest.raises(UsageError, match="has a path"):
        answer(descriptors, "Send", {}, url="http://127.0.0.1:1/shop")


def test_every_status_has_its_counterpart():
    import grpc

    assert {code.name for code in grpc.StatusCode} == set(HTTP_STATUSES)


def test_another_service_may_be_elsewhere(descriptors):
    request = GrpcRequest("parcel.Parcels/Send", descriptor=descriptors, url="http://127.0.0.1:1")
    errand = Errand("http://127.0.0.1:2", {}, {"session": "s1"}, 20.0, send=None)
    assert asyncio.run(run_grpc(request, {}, errand)).error == "could not connect to 127.0.0.1:1"


def test_a_mesh_lets_calls_and_reflection_pass_with_the_plan(descriptors, tmp_path):
    signed = {"key": b"a key for tests that nobody guesses", "environment": "local", "expires": time.time() + 60}
    plan = plan_headers(BASELINE, trace_id="0" * 16 + "1" * 16, span_id="2" * 16, **signed)
    request = GrpcRequest("parcel.Parcels/Send", {"id": "a"})

    async def run() -> Response:
        async with serving_parcels(descriptors) as served:
            spec = MeshSpec((MeshService("parcels", "grpc", (served.removeprefix("http://"),)),), entry="parcels")
            with run_mesh(spec, key=signed["key"], work_dir=tmp_path) as mesh:
                errand = Errand(mesh.entry_url, plan, {"session": "s1"}, 20.0, send=None)
                return await run_grpc(request, {}, errand)

    response = asyncio.run(run())
    assert response.status == 200
    assert any(each.startswith("tracestate=cutset") for each in json.loads(response.body)["seen"])
