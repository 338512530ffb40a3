import json

from hypothesis import given
from hypothesis import strategies as st

from cutset.model.exchange import Operation
from cutset.select.dataflow import Dependency, Pattern, dependencies, is_write, statement_of


def call(endpoint: str, request: str = "", response: str = "", at: float = 0.0) -> Operation:
    return Operation(endpoint, 1, at, 0.01, failed=False, request=request.encode(), response=response.encode())


def statement(query: str, *parameters: object) -> str:
    return json.dumps({"query": query, "parameters": list(parameters)})


def test_a_call_that_sends_what_an_earlier_one_brought_consumes_it() -> None:
    found = dependencies(
        [
            call("rpc/httpx/GET /geo", '{"street": "Long Lane 4"}', '{"address": "GEO-4711-B"}'),
            call("rpc/httpx/POST /shipments", '{"to": "GEO-4711-B"}'),
        ]
    )

    assert found == [Dependency(Pattern.PRODUCER_CONSUMER, 0, 1, ("GEO-4711-B",))]


def test_what_the_request_itself_brought_was_not_produced_by_a_call() -> None:
    calls = [
        call("cache/redis/get", "GET cart-8812", '{"cart": "cart-8812"}'),
        call("rpc/httpx/POST /orders", '{"cart": "cart-8812"}'),
    ]

    assert dependencies(calls, b'{"cart": "cart-8812"}') == []


def test_the_same_data_in_two_stores_is_a_dual_write() -> None:
    [found] = dependencies(
        [
            call("db/psycopg/execute", statement("INSERT INTO orders (id, item) VALUES (%s, %s)", "o-4711", "mugs")),
            call("mq/nats/publish", '{"id": "o-4711", "item": "mugs"}'),
        ]
    )

    assert (found.pattern, found.first, found.second) == (Pattern.DUAL_WRITE, 0, 1)
    assert found.shared == ("o-4711", "mugs")


def test_two_writes_into_one_store_are_no_dual_write() -> None:
    calls = [call("db/psycopg/execute", statement(f"INSERT INTO {table} VALUES (%s)", "o-4711")) for table in "ab"]

    assert dependencies(calls) == []


def test_a_read_and_a_write_are_no_dual_write() -> None:
    calls = [
        call("db/psycopg/execute", statement("SELECT * FROM orders WHERE id = %s", "o-4711")),
        call("mq/nats/publish", '{"id": "o-4711"}'),
    ]

    assert dependencies(calls) == []


def test_the_words_of_statements_and_small_numbers_are_no_data() -> None:
    calls = [
        call("db/psycopg/execute", statement("INSERT INTO orders (item) VALUES (%s)", 1)),
        call("db/asyncpg/execute", statement("INSERT INTO orders (item) VALUES (%s)", 1)),
    ]

    assert dependencies(calls) == []


def test_statements_say_whether_they_write() -> None:
    assert is_write(call("db/psycopg/execute", "UPDATE a SET b = 1"))
    assert is_write(call("db/psycopg/execute", statement("  insert into a values (1)")))
    assert not is_write(call("db/psycopg/execute", statement("SELECT 1")))


def test_methods_say_whether_they_write_where_there_is_no_statement() -> None:
    writing = (
        "cache/redis/set",
        "cache/redis/del",
        "mq/nats/publish",
        "rpc/httpx/POST /orders",
        "db/pymongo/insert_one",
    )
    reading = ("cache/redis/get", "rpc/httpx/GET /orders", "db/pymongo/find", "rpc/grpc/GetQuote", "cache/redis/mget")

    assert all(is_write(call(endpoint)) for endpoint in writing)
    assert not any(is_write(call(endpoint)) for endpoint in reading)


def test_what_is_no_sql_is_no_statement() -> None:
    assert statement_of(b"SELECTED items") == ""
    assert statement_of(b'{"query": "mugs"}') == ""
    assert statement_of(b'{"query": "SELECT 1"}') == "SELECT 1"


@given(st.lists(st.tuples(st.binary(max_size=30), st.binary(max_size=30)), max_size=6))
def test_any_payload_is_read_and_data_flows_forwards(payloads: list[tuple[bytes, bytes]]) -> None:
    calls = [Operation(f"rpc/x/POST /{n}", 1, n, 0.0, False, *pair) for n, pair in enumerate(payloads)]

    assert all(each.first < each.second and each.shared for each in dependencies(calls))
