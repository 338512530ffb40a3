"""redis-py against a real Redis, synchronous and asyncio."""

import asyncio

import pytest
import redis
import redis.asyncio

from cutset_agent.hooks.data import redis as hook


@pytest.fixture
def client(redis_address):
    with redis.Redis.from_url(f"redis://{redis_address}") as patient:
        patient.flushall()  # which takes longer than 50 ms on a busy machine
    with redis.Redis.from_url(f"redis://{redis_address}", socket_timeout=0.05) as client:
        yield client


@pytest.fixture
def run(redis_address):
    """Runs an asynchronous function with an asyncio client."""

    def run(function, **options):
        async def main():
            async with redis.asyncio.Redis.from_url(f"redis://{redis_address}", **options) as client:
                return await function(client)

        return asyncio.run(main())

    return run


def test_calls_have_their_peer(installed, client, redis_address, run):
    with installed.request((("cache/redis/get", f"{redis_address}/1"), "connection-refused")):
        client.get("key")
        client.pipeline().set("key", "value").execute()
        with redis.Redis.from_url(f"redis://{redis_address}/1") as other, pytest.raises(redis.ConnectionError):
            other.get("key")
        run(lambda asynchronous: asynchronous.get("key"), db=2)
    peers = [(span["endpoint"], span["peer"]) for span in installed.spans() if "peer" in span]
    assert peers == [
        ("cache/redis/get", f"{redis_address}/0"),
        ("cache/redis/pipeline", f"{redis_address}/0"),
        ("cache/redis/get", f"{redis_address}/1"),
        ("cache/redis/get", f"{redis_address}/2"),
    ]


EXPECTED = {
    "connection-refused": redis.ConnectionError,
    "connection-reset": redis.ConnectionError,
    "connection-lost": redis.ConnectionError,
    "dns-failure": redis.ConnectionError,
    "timeout": redis.TimeoutError,
    "no-answer": redis.TimeoutError,
    "lost-answer": redis.TimeoutError,
    "pool-exhausted": redis.exceptions.MaxConnectionsError,
    "too-many-connections": redis.ConnectionError,
    "authentication-failed": redis.AuthenticationError,
    "read-only": redis.ReadOnlyError,
    "out-of-memory": redis.OutOfMemoryError,
    "loading": redis.BusyLoadingError,
    "moved": redis.exceptions.MovedError,
    "serialization": redis.DataError,
}


def test_every_fault_is_tried():
    of_answers = {"cache-miss", "truncated-body", "garbled-body"}
    assert set(EXPECTED) | of_answers == set(hook.FAULTS) == set(hook.ASYNCIO_FAULTS)


@pytest.mark.parametrize(("fault", "left"), [("truncated-body", b"va"), ("garbled-body", b"\x89\x9e\x93\x8a\x9a")])
def test_a_cached_value_can_be_spoilt(installed, client, redis_address, run, fault, left):  # noqa: PLR0917
    client.set("key", "value")
    with installed.request(("cache/redis/get", fault), ("cache/redis/set", fault)):
        assert client.get("key") == left
        assert client.get("no key") is None
        assert run(lambda asynchronous: asynchronous.get("key"), decode_responses=True) == left.decode("latin-1")
        client.set("key", "value")
    assert [span.get("fault") for span in installed.spans("cache/redis/get")] == [fault] * 3
    assert installed.spans("cache/redis/set")[0]["not_fired"] == f"{fault} makes no sense for this call"


@pytest.mark.parametrize(("fault", "exception"), EXPECTED.items(), ids=str)
def test_a_fault_is_the_librarys_own_exception(installed, client, fault, exception):
    with installed.request(("cache/redis/set", fault)), pytest.raises(exception):
        client.set("key", "value")
    (span,) = installed.spans("cache/redis/set")
    assert (span["fault"], span["error"], span["occurrence"]) == (fault, "true", "1")
    assert client.get("key") == (b"value" if fault == "lost-answer" else None)


@pytest.mark.parametrize(("fault", "exception"), EXPECTED.items(), ids=str)
def test_a_fault_is_the_librarys_own_exception_with_asyncio(installed, client, run, fault, exception):
    async def work(asynchronous):
        await asynchronous.ping()
        with installed.request(("cache/redis/set", fault)), pytest.raises(exception):
            await asynchronous.set("key", "value")
        return await asynchronous.get("key")

    assert run(work, socket_timeout=0.05) == (b"value" if fault == "lost-answer" else None)
    (span,) = installed.spans("cache/redis/set")
    assert (span["fault"], span["error"]) == (fault, "true")


def test_calls_without_a_plan_do_as_ever(installed, client, run):
    assert client.set("key", "value")
    assert client.get("key") == b"value"
    assert run(lambda asynchronous: asynchronous.get("key")) == b"value"
    assert installed.spans() == []


def test_only_the_chosen_endpoint_and_occurrence_fail(installed, client):
    with installed.request(("cache/redis/get", "connection-refused", {"occurrence": 2})):
        client.set("key", "value")
        assert client.get("key") == b"value"
        with pytest.raises(redis.ConnectionError, match="Error 111 connecting to 127"):
            client.get("key")
        assert client.get("key") == b"value"
    fired = [span.get("fault") for span in installed.spans("cache/redis/get")]
    assert fired == [None, "connection-refused", None]


def test_the_first_calls_alone_can_fail(installed, client):
    with installed.request(("cache/redis/get", "timeout", {"attempts": 2})):
        for _ in range(2):
            with pytest.raises(redis.TimeoutError):
                client.get("key")
        assert client.get("key") is None


def test_a_full_or_read_only_server_still_reads(installed, client):
    client.set("key", "value")
    with installed.request(("cache/redis/get", "read-only"), ("cache/redis/hget", "out-of-memory")):
        assert client.get("key") == b"value"
        assert client.hget("hash", "field") is None
    assert [span["not_fired"] for span in installed.spans("cache/redis/get")] == [
        "read-only makes no sense for this call"
    ]


def test_a_miss_makes_sense_for_single_reads_alone(installed, client):
    client.set("key", "value")
    with installed.request(("cache/redis/get", "cache-miss"), ("cache/redis/exists", "cache-miss")):
        assert client.get("key") is None
        assert client.exists("key") == 1


def test_a_timeout_needs_a_call_site_that_has_one(installed, redis_address):
    client = redis.Redis.from_url(f"redis://{redis_address}", socket_timeout=None)
    with client, installed.request(("cache/redis/ping", "timeout")):
        assert client.ping()
    (span,) = installed.spans("cache/redis/ping")
    assert span["not_fired"] == "timeout: the call site has no timeout"
    assert "timeout" not in span


def test_a_lost_connection_is_really_closed(installed, client):
    client.ping()
    (connection,) = client.connection_pool._available_connections
    assert connection._sock is not None
    with installed.request(("cache/redis/get", "connection-lost")), pytest.raises(redis.ConnectionError):
        client.get("key")
    assert connection._sock is None
    assert client.ping()


def test_pipelines_fail_as_a_whole(installed, client):
    with installed.request(("cache/redis/pipeline", "connection-reset", {"occurrence": 1})):
        pipeline = client.pipeline().set("a", 1).incr("a")
        with pytest.raises(redis.ConnectionError):
            pipeline.execute()
        assert client.pipeline().set("a", 1).incr("a").execute() == [True, 2]
    spans = installed.spans("cache/redis/pipeline")
    assert [span.get("fault") for span in spans] == ["connection-reset", None]
    assert spans[0]["payload"] == spans[1]["payload"]


def test_pipelines_fail_as_a_whole_with_asyncio(installed, run):
    async def work(client):
        lost = pytest.raises(redis.ConnectionError, match="closed by server")
        with installed.request(("cache/redis/pipeline", "lost-answer")), lost:
            await client.pipeline().set("lost", 1).execute()
        return await client.get("lost")

    assert run(work, socket_timeout=None) == b"1"


def test_watched_keys_are_commands_of_their_own(installed, client):
    timed_out = pytest.raises(redis.TimeoutError)
    with installed.request(("cache/redis/watch", "timeout")), client.pipeline() as pipeline, timed_out:
        pipeline.watch("key")


def test_equal_payloads_have_equal_digests(installed, client):
    with installed.request():
        client.set("key", "value")
        client.set(b"key", b"value")
        client.set("key", "other")
    first, second, third = (span["payload"] for span in installed.spans("cache/redis/set"))
    assert first == second != third


def test_a_recording_has_payloads_and_timeouts(installed, client, recorded):
    from cutset_agent import request

    entry = request.enter([], "GET /")
    client.set("key", "value")
    client.get("key")
    request.leave(entry, 200, exchange={"method": "GET", "path": "/"})
    (exchange,) = recorded()
    first, second = exchange["operations"]
    assert (first["endpoint"], first["timeout"]) == ("cache/redis/set", 0.05)
    assert (first["request"], second["response"]) == ("U0VUIGtleSB2YWx1ZQ==", "dmFsdWU=")
