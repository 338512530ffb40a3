import asyncio
from pathlib import Path

import pytest
from aiohttp.test_utils import RawTestServer
from tests.samples.har_shop import ORDER, SESSION, VISIT, HarShop, write_har

from cutset.errors import InputError, TargetError
from cutset.model.request import Response, WorkloadStep
from cutset.workload.recording.folder import open_recording
from cutset.workload.recording.har import read_har
from cutset.workload.send import open_client, send
from cutset.workload.sources.recorded import har_requests, recording_requests


def sent(name: str, har: Path, shop: HarShop) -> Response:
    (request,) = (each.request for each in har_requests(har) if each.request.name == name)

    async def run() -> Response:
        async with RawTestServer(shop.handle) as server, open_client(1) as client:
            return await send(
                client,
                request,
                base_url=str(server.make_url("/")),
                plan=lambda: {"tracestate": "the plan"},
                setup_headers=lambda: {"tracestate": "no faults"},
                timeout=20.0,
            )

    return asyncio.run(run())


@pytest.fixture
def har(tmp_path: Path) -> Path:
    return write_har(tmp_path / "visit.har", VISIT)


def test_each_request_class_comes_with_what_it_needs_and_pictures_and_failures_stay_out(har):
    assert [(each.request.name, each.about) for each in har_requests(har)] == [
        ("GET /", ""),
        ("POST /login", ""),
        ("GET /news", "after POST /login"),
        ("POST /orders", "after POST /login"),
        ("GET /orders/*", "after POST /login, POST /orders"),
    ]


def test_a_flow_is_sent_with_the_values_of_its_own_answers_and_faults_for_its_end_alone(har):
    shop = HarShop()
    response = sent("GET /orders/*", har, shop)

    (order,) = shop.orders
    assert shop.seen == [
        ("POST", "/login", "no faults"),
        ("POST", "/orders", "no faults"),
        ("GET", f"/orders/{order}", "the plan"),
    ]
    assert (response.status, response.body, response.exchanges) == (200, b'{"items": 1}', 1)
    assert order != ORDER


def test_what_was_recorded_of_secrets_is_known_as_such(har):
    step = next(each.request.step for each in har_requests(har) if each.request.name == "GET /orders/*")
    assert isinstance(step, WorkloadStep)
    assert SESSION in step.texts


def test_a_flow_whose_beginning_fails_is_no_experiment(har):
    shop = HarShop()
    shop.broken = True
    with pytest.raises(TargetError) as caught:
        sent("GET /orders/*", har, shop)
    assert caught.value.message == (
        "Request 2 of 3 of the recorded flow to `GET /orders/*`, `POST /orders`, was answered 503 instead of 200; "
        "the experiment is void"
    )


def test_a_recording_is_the_same(har, tmp_path):
    with open_recording(tmp_path / "recording") as recording:
        recording.append(read_har(har).exchanges)
    names = [each.request.name for each in recording_requests(tmp_path / "recording")]
    assert names == [each.request.name for each in har_requests(har)]


def test_a_file_without_any_request_to_test_is_told(tmp_path):
    empty = write_har(tmp_path / "empty.har", VISIT[1:2])
    with pytest.raises(InputError, match="There is no request to test in the HAR file"):
        har_requests(empty)
    empty.write_bytes(empty.read_bytes()[:200])
    with pytest.raises(InputError, match="is not JSON"):
        har_requests(empty)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (
            '{"query": "query Cart($id: ID!) { cart(id: $id) { total } }", "operationName": "Cart"}',
            "POST /graphql Cart",
        ),
        ('{"query": "mutation Buy { buy { id } }"}', "POST /graphql Buy"),
        ('{"query": "{ products { id } }"}', "POST /graphql products"),
        ('{"query": "tea"}', "POST /graphql"),
        ('{"query": 7}', "POST /graphql"),
        ('[{"query": "{ a }"}]', "POST /graphql"),
    ],
)
def test_operations_of_graphql_are_classes_of_their_own(tmp_path, body, name):
    har = write_har(tmp_path / "graphql.har", [("POST", "/graphql", body, {"text": '{"data": {}}'})])
    assert [each.request.name for each in har_requests(har)] == [name]


def test_an_upgrade_to_websocket_is_no_request_to_test(tmp_path):
    har = write_har(tmp_path / "live.har", [("GET", "/", "", {}), ("GET", "/live", "", {"status": 101})])
    assert [each.request.name for each in har_requests(har)] == ["GET /"]


def test_what_was_masked_must_be_given_and_is_named(tmp_path):
    login = '{"user": "ada", "password": "masked-0123456789abcdef"}'
    visit = [("POST", "/login", login, {"text": "{}"}), ("GET", "/", "", {"sent": "sid=masked-fedcba9876543210"})]
    found = {each.request.name: each.doubt for each in har_requests(write_har(tmp_path / "visit.har", visit))}
    assert found == {"POST /login": "masked, so give it in variables.yaml: body/password of POST /login", "GET /": ""}
