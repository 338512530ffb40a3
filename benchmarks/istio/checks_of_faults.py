"""Checks: what a plan says happens, to that request, and to no other."""

from benchmarks.istio.ground import Ground, plan, private_key
from benchmarks.istio.observed import ask, ask_many, attempts, called, planned, proven, seen_by_services, sidecars

from cutset.inject.ecdsa import new_private_key

HELPERS = ("x-cutset", "x-envoy-fault", "x-client-trace-id")


def an_http_abort_fires_for_that_request_only(at: Ground) -> None:
    key = private_key(at)
    headers = [plan(key, "backend/GET /:abort(503)") if number % 4 == 0 else {} for number in range(24)]
    statuses = [answer.status for answer in ask_many(at, headers)]
    assert statuses == [502, 200, 200, 200] * 6, statuses


def its_answer_says_that_it_was_injected(at: Ground) -> None:
    backend, quote = called(planned(at, "backend/GET /:abort(503)"))
    assert (backend["status"], backend["fault"], quote["status"]) == (503, "abort(503)", "OK"), (backend, quote)


def spans_prove_that_it_fired(at: Ground) -> None:
    _, spans = proven(at, "backend/GET /:abort(503)")
    found = [each for each in spans if each.attributes.get("cutset.fault") == "abort(503)"]
    assert found, spans
    assert "FI" in str(found[0].attributes.get("response_flags")), found


def istio_does_not_retry_an_injected_503(at: Ground) -> None:
    _, spans = proven(at, "backend/GET /:abort(503)")
    assert attempts(spans, "backend") == ["1"], spans


def a_fault_fires_at_the_entry(at: Ground) -> None:
    answer = planned(at, "frontend/GET /:abort(503)")
    assert (answer.status, answer.headers.get("x-cutset-fault")) == (503, "abort(503)"), answer


def a_grpc_abort_fires(at: Ground) -> None:
    answer = planned(at, "quote/Say:grpc(14)")
    assert (answer.status, called(answer)[1]["status"]) == (502, "UNAVAILABLE"), answer


def istio_retries_an_injected_unavailable_twice(at: Ground) -> None:
    _, spans = proven(at, "quote/Say:grpc(14)", least=5)
    assert attempts(spans, "quote") == ["1", "2", "3"], spans


def a_fault_of_the_first_attempt_is_survived_by_the_retry(at: Ground) -> None:
    answer = planned(at, "quote/Say:grpc(14),attempts=1")
    assert answer.status == 200, answer


def a_delay_fires(at: Ground) -> None:
    answer = planned(at, "backend/GET /:delay(700ms)")
    assert answer.status == 200, answer
    assert answer.seconds >= 0.7, answer.seconds


def applications_see_no_header_of_the_filters(at: Ground) -> None:
    answer = planned(at, "backend/GET /:delay(10ms)")
    seen = [name.lower() for headers in seen_by_services(answer) for name in headers]
    assert not [name for name in seen if name.startswith(HELPERS)], seen


def one_replica_alone_can_be_made_to_fail(at: Ground) -> None:
    replica = next(name for _, name in sidecars(at) if name.startswith("backend"))
    key = private_key(at)
    answers = ask_many(at, [plan(key, f"backend/GET /#{replica}:abort(500)") for _ in range(16)])
    assert {answer.status for answer in answers} == {200, 502}, [answer.status for answer in answers]
    for answer in answers:
        backend, _ = called(answer)
        if answer.status == 200:
            assert backend["body"]["service"] != replica, backend


def the_empty_plan_marks_where_plans_arrive(at: Ground) -> None:
    answer, spans = proven(at)
    marked = sorted((str(s.attributes["cutset.service"]), str(s.attributes.get("cutset.api"))) for s in spans)
    assert answer.status == 200, answer
    assert marked == [("backend", "GET /"), ("frontend", "GET /"), ("quote", "Say")], marked


def a_plan_of_another_key_does_nothing(at: Ground) -> None:
    assert ask(at, plan(new_private_key(), "backend/GET /", "frontend/GET /")).status == 200


def a_plan_for_another_environment_does_nothing(at: Ground) -> None:
    assert ask(at, plan(private_key(at), "backend/GET /", "frontend/GET /", environment="prod")).status == 200


def a_plan_that_has_expired_does_nothing(at: Ground) -> None:
    assert ask(at, plan(private_key(at), "backend/GET /", "frontend/GET /", lives=-5)).status == 200


def a_plan_of_another_trace_does_nothing(at: Ground) -> None:
    headers = plan(private_key(at), "backend/GET /", "frontend/GET /")
    assert ask(at, {**headers, "traceparent": f"00-{'7' * 32}-{'8' * 16}-01"}).status == 200


CHECKS = (
    an_http_abort_fires_for_that_request_only,
    its_answer_says_that_it_was_injected,
    spans_prove_that_it_fired,
    istio_does_not_retry_an_injected_503,
    a_fault_fires_at_the_entry,
    a_grpc_abort_fires,
    istio_retries_an_injected_unavailable_twice,
    a_fault_of_the_first_attempt_is_survived_by_the_retry,
    a_delay_fires,
    applications_see_no_header_of_the_filters,
    one_replica_alone_can_be_made_to_fail,
    the_empty_plan_marks_where_plans_arrive,
    a_plan_of_another_key_does_nothing,
    a_plan_for_another_environment_does_nothing,
    a_plan_that_has_expired_does_nothing,
    a_plan_of_another_trace_does_nothing,
)
