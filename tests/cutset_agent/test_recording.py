import base64
import json

from cutset.workload.recording.lines import exchange_from_line
from cutset_agent import recording, request


def test_an_exchange_is_one_line_with_its_bodies_in_base64(installed, recorded):
    entry = request.enter([("traceparent", f"00-{'12' * 16}-{'34' * 8}-01")], "POST /orders")
    found = request.current()
    request.leave(entry, 201, exchange={"method": "POST", "path": "/orders?draft=1", "request_body": b"\xff"})
    (exchange,) = recorded()
    assert exchange["id"] == found.span_id
    assert exchange_from_line(json.dumps(exchange)).request_body == b"\xff"
    assert (exchange["service"], exchange["trace_id"], exchange["status"]) == ("orders", "12" * 16, 201)
    assert base64.b64decode(exchange["request_body"]) == b"\xff"
    assert exchange["seconds"] >= 0
    assert exchange["started_at"] > 1_700_000_000
    assert exchange["operations"] == []


def test_a_failed_message_has_the_status_of_one(installed, recorded):
    entry = request.enter([], "mq/nats/handle", "consumer")
    request.leave(entry, error=ValueError(), exchange={"method": "MESSAGE", "path": "orders.placed"})
    assert recorded()[0]["status"] == 500


def test_what_recording_remembers_of_a_request_is_bounded(installed, recorded, redis_address):
    import redis

    entry = request.enter([], "GET /")
    with redis.Redis.from_url(f"redis://{redis_address}") as client:
        for _ in range(recording.MAX_OPERATIONS + 10):
            client.ping()
    request.leave(entry, 200, exchange={"method": "GET", "path": "/"})
    assert len(recorded()[0]["operations"]) == recording.MAX_OPERATIONS
