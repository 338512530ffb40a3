import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cutset.drill.plan import Flow, FlowStep, Plan, make_plan, representatives
from cutset.drill.settings import Selection
from cutset.errors import UsageError
from cutset.model.exchange import Exchange, Operation
from cutset.workload.templates.template import Template


def call(endpoint: str, occurrence: int = 1, request: str = "", response: str = "", at: float = 0.0) -> Operation:
    return Operation(endpoint, occurrence, at + occurrence, 0.01, False, request.encode(), response.encode())


def sql(query: str, *parameters: object) -> str:
    return json.dumps({"query": query, "parameters": list(parameters)})


def exchange(*operations: Operation, path: str = "/orders", service: str = "shop", **others: object) -> Exchange:
    fields = {"id": path, "trace_id": "", "started_at": 1.0, "seconds": 0.02, "method": "POST", "status": 201}
    return Exchange(**_EMPTY | fields | {"service": service, "path": path, "operations": operations} | others)


_EMPTY = {"request_headers": (), "request_body": b""}


def flow(*operations: Operation, path: str = "/orders", service: str = "shop") -> Flow:
    recorded = exchange(*operations, path=path, service=service)
    return Flow((FlowStep(f"POST {path}", recorded),), Template(path, ()))


def faults_in(plan: Plan) -> list[tuple[str, int, str]]:
    return [(each.test.endpoint, int(each.test.point.occurrence or 1), each.test.fault) for each in plan.tests]


def reasons(plan: Plan) -> str:
    return "\n".join(f"{each.what}: {each.reason}" for each in plan.pruned)


def plan_of(flows: Sequence[Flow], **selection: object) -> Plan:
    return make_plan(flows, Selection(**selection))


def test_only_the_last_call_of_an_endpoint_is_tested() -> None:
    plan = plan_of([flow(call("cache/redis/get", 1), call("cache/redis/get", 2), call("cache/redis/get", 3))])

    assert faults_in(plan) == [("cache/redis/get", 3, "connection-refused"), ("cache/redis/get", 3, "no-answer")]
    assert reasons(plan).count("call 3 is the last one") == 2


def test_answers_are_lost_for_writes_only() -> None:
    read = plan_of([flow(call("db/psycopg/execute", request=sql("SELECT 1")))])
    write = plan_of([flow(call("db/psycopg/execute", request=sql("INSERT INTO a VALUES (1)")))])

    assert "lost-answer" not in {fault for _, _, fault in faults_in(read)}
    assert "lost-answer" in {fault for _, _, fault in faults_in(write)}
    assert {each.test.repeatable for each in write.tests} == {False}


def test_of_a_dual_write_the_second_comes_first_and_of_the_first_only_its_answer_is_lost() -> None:
    plan = plan_of(
        [
            flow(
                call("db/psycopg/execute", request=sql("INSERT INTO orders VALUES (%s)", "o-4711")),
                call("cache/redis/set", request="SET order o-4711", at=1.0),
            )
        ]
    )

    assert faults_in(plan) == [
        ("cache/redis/set", 1, "connection-refused"),
        ("cache/redis/set", 1, "no-answer"),
        ("db/psycopg/execute", 1, "lost-answer"),
    ]
    assert "dual write: cache/redis/set writes the same data later (`o-4711`)" in reasons(plan)


def test_a_consumer_is_left_out_in_favour_of_its_producer() -> None:
    plan = plan_of(
        [
            flow(
                call("rpc/httpx/GET /geo", response='{"address": "GEO-4711"}'),
                call("rpc/httpx/POST /shipments", request='{"to": "GEO-4711"}', at=1.0),
            )
        ]
    )

    assert {endpoint for endpoint, _, _ in faults_in(plan)} == {"rpc/httpx/GET /geo"}
    assert "producer–consumer: it sends what rpc/httpx/GET /geo brings (`GEO-4711`)" in reasons(plan)


def test_a_few_services_stand_for_all_and_the_seed_decides_which() -> None:
    flows = [flow(call("cache/redis/get"), path=f"/{name}", service=name) for name in "abcdefgh"]

    plans = [plan_of(flows, services_each=2, seed=seed) for seed in (1, 1, 2)]
    chosen = [{each.test.point.caller for each in plan.tests} for plan in plans]

    assert chosen[0] == chosen[1] != chosen[2]
    assert len(chosen[0]) == 2
    assert reasons(plans[0]).count("cross-service sampling") == 6


def test_the_most_complex_classes_are_tested_each_by_its_most_complex_flow() -> None:
    simple, complex_ = flow(call("cache/redis/get"), path="/a"), flow(call("cache/redis/get", 2), path="/b")
    more = flow(call("cache/redis/get"), call("db/psycopg/execute"), path="/b")

    plan = plan_of([simple, complex_, more], top=1)

    assert representatives([simple, complex_, more], 1)[0] == {"POST /b": more}
    assert {each.test.flow for each in plan.tests} == {"POST /b"}
    assert "`drill.top` is 1" in reasons(plan)


def test_flows_that_cover_most_come_first() -> None:
    plan = plan_of(
        [
            flow(call("cache/redis/get"), path="/a"),
            flow(call("cache/redis/get"), call("rpc/httpx/GET /x"), call("rpc/httpx/GET /y"), path="/b"),
        ]
    )

    assert list(dict.fromkeys(each.test.flow for each in plan.tests)) == ["POST /b", "POST /a"]


def test_faults_and_endpoints_can_be_chosen() -> None:
    plan = plan_of(
        [flow(call("cache/redis/get"), call("db/psycopg/execute"))], only=("cache/",), faults=("timeout", "loading")
    )

    assert faults_in(plan) == [("cache/redis/get", 1, "loading")]
    assert "not asked for: cache/" in reasons(plan)
    assert "the call site has no timeout" in reasons(plan)


def test_a_timeout_is_tested_where_the_call_site_has_one() -> None:
    limited = replace(call("cache/redis/get"), timeout=0.5)

    assert faults_in(plan_of([flow(limited)], faults=("timeout",))) == [("cache/redis/get", 1, "timeout")]


def test_a_fault_that_exists_nowhere_is_refused() -> None:
    with pytest.raises(UsageError, match="has the fault `lightning`"):
        plan_of([flow(call("cache/redis/get"))], faults=("lightning",))


def test_what_has_no_hook_is_left_out_with_the_reason() -> None:
    plan = plan_of([flow(call("cache/memcache/get"))])

    assert plan.tests == ()
    assert "none of the faults asked for exists at cache/memcache/get" in reasons(plan)


def test_the_same_call_of_a_request_and_of_its_message_is_one_test() -> None:
    place, handled = (
        exchange(call("db/psycopg/execute")),
        exchange(call("db/psycopg/execute"), id="m", method="MESSAGE"),
    )

    plan = plan_of([Flow((FlowStep("POST /orders", place, (handled,)),), Template("1", ()))])

    assert len(plan.tests) == len({each.test.id for each in plan.tests}) == 3


def test_ids_of_tests_do_not_depend_on_what_was_sent() -> None:
    one, other = (
        plan_of([flow(call("db/psycopg/execute", request=sql("SELECT %s", value)))]).tests[0].test for value in (1, 2)
    )

    assert one.id == other.id
