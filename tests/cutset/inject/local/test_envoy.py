"""What the configuration promises, seen from outside: evidence in spans, a closed edge, no harm to other users."""

import json
import re
import time

import pytest

from cutset.inject.local.envoy import bootstrap
from cutset.model.expect import split_address
from cutset.model.mesh import MeshService, MeshSpec


def test_a_mesh_without_filters_has_no_trace_of_them():
    spec = MeshSpec((MeshService("web", "http", ("127.0.0.1:1",)),), filters=False)
    assert "cutset.plan" not in json.dumps(bootstrap(spec, {("web", "1"): 2}))


@pytest.mark.parametrize(("configured", "timeout"), [(None, "0s"), (2.5, "2.5s")])
def test_the_mesh_gives_up_on_no_call_unless_it_is_told_to(configured, timeout):
    spec = MeshSpec((MeshService("web", "http", ("127.0.0.1:1",), timeout_seconds=configured),), entry="web")
    text = json.dumps(bootstrap(spec, {("web", "1"): 2}))
    assert set(re.findall(r'"cluster": "outbound:web", "timeout": "(\w*\.?\w*)"', text)) == {timeout}


def test_replicas_may_be_names_or_ipv6_addresses():
    spec = MeshSpec((MeshService("web", "http", ("localhost:1", "[::1]:2")),))
    clusters = bootstrap(spec, {("web", "1"): 3, ("web", "2"): 4})["static_resources"]["clusters"]
    assert [cluster["type"] for cluster in clusters] == ["STRICT_DNS", "STATIC", "STATIC"]
    assert split_address("[::1]:2") == ("::1", 2)


@pytest.mark.parametrize("text", ["", "host", ":1", "host:", "host:x", "host:65536", "a b:1", "http://host:1"])
def test_what_is_not_an_address_is_refused(text):
    with pytest.raises(ValueError, match="expected host:port"):
        split_address(text)


def test_a_span_of_a_marked_request_shows_identity_and_that_the_plan_arrived(lab):
    trace_id = lab.new_trace_id()
    lab.get("solo", "/items/42", trace_id=trace_id)
    span = lab.sink.wait_for(trace_id)[0]
    assert (span["cutset.service"], span["cutset.replica"], span["cutset.attempt"]) == ("solo", "1", "1")
    assert (span["cutset.api"], span["http.status_code"], span["response_flags"]) == ("GET /items/*", "200", "-")
    assert set(span["cutset.carriers"].split(",")) == {"tracestate", "baggage"}
    assert "cutset.fault" not in span
    assert "cutset.refused" not in span


def test_a_span_shows_that_a_plan_came_and_was_refused(lab):
    trace_id = lab.new_trace_id()
    headers = lab.headers(trace_id=trace_id)
    forged = {name: value.replace(value[-3:], "AAA") for name, value in headers.items() if name != "traceparent"}
    lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=headers | forged)
    span = lab.sink.wait_for(trace_id)[0]
    assert span["cutset.refused"] == "1"
    assert "cutset.api" not in span
    assert "cutset.carriers" not in span


def test_a_span_of_an_unmarked_request_shows_no_api(lab):
    trace_id = lab.new_trace_id()
    headers = {"traceparent": f"00-{trace_id}-00f067aa0ba902b7-01"}
    lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=headers)
    assert "cutset.api" not in lab.sink.wait_for(trace_id)[0]


def test_every_attempt_has_a_span_of_its_own(lab):
    trace_id = lab.new_trace_id()
    lab.get("web", "/", "web/GET /:abort(503),attempts=2", trace_id=trace_id)
    spans = lab.sink.wait_for(trace_id, 3)
    assert [span["cutset.attempt"] for span in spans] == ["1", "2", "3"]
    assert len({span["cutset.replica"] for span in spans}) == 3
    assert [span.get("cutset.fault") for span in spans] == ["abort(503)", "abort(503)", None]
    assert [span["response_flags"] for span in spans] == ["FI", "FI", "-"]
    assert [span["http.status_code"] for span in spans] == ["503", "503", "200"]


def test_a_span_of_an_aborted_grpc_call_shows_its_status(lab):
    trace_id = lab.new_trace_id()
    lab.call("cart", "GetCart", lab.headers("cart/GetCart:grpc(8)", trace_id=trace_id))
    span = lab.sink.wait_for(trace_id)[0]
    assert (span["cutset.api"], span["cutset.fault"], span["response_flags"]) == ("GetCart", "grpc(8)", "FI")
    assert span["grpc.status_code"] == "8"


def test_a_span_of_an_answered_grpc_call_shows_its_status(lab):
    for method, status in (("GetCart", "0"), ("Fail13", "13")):
        trace_id = lab.new_trace_id()
        lab.call("cart", method, lab.headers(trace_id=trace_id))
        span = lab.sink.wait_for(trace_id)[0]
        assert (span["cutset.api"], span["grpc.status_code"], span["response_flags"]) == (method, status, "-")


def test_a_span_of_a_delayed_call_says_so_even_if_the_caller_gave_up(lab):
    for milliseconds in (1, 60_000):
        trace_id = lab.new_trace_id()
        lab.get("hasty", "/", f"hasty/GET /:delay({milliseconds}ms)", trace_id=trace_id)
        span = lab.sink.wait_for(trace_id)[0]
        assert span["cutset.fault"] == f"delay({milliseconds}ms)"
        assert "DI" in span["response_flags"].split(",")


def test_a_fault_that_its_percentage_missed_leaves_no_flag(lab):
    trace_id = lab.new_trace_id()
    while lab.get("solo", "/", "solo/GET /:abort(503),1%", trace_id=trace_id).status_code == 503:
        trace_id = lab.new_trace_id()
    span = lab.sink.wait_for(trace_id)[0]
    assert (span["cutset.fault"], span["response_flags"]) == ("abort(503)", "-")


def test_the_context_of_a_trace_passes_through(lab):
    headers = lab.headers("other/X")
    seen = lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=headers).json()["headers"]
    assert (seen["tracestate"], seen["baggage"]) == (headers["tracestate"], headers["baggage"])
    assert seen["traceparent"].split("-")[1] == headers["traceparent"].split("-")[1]
    _, seen, _ = lab.call("cart", "GetCart", headers)
    assert (seen["headers"]["tracestate"], seen["headers"]["baggage"]) == (headers["tracestate"], headers["baggage"])


def test_the_edge_drops_plans_and_keeps_what_belongs_to_others(lab):
    plan = lab.headers("web/*", carriers=["tracestate", "baggage", "jaeger"])
    headers = plan | {
        "tracestate": f"a=1,{plan['tracestate']}",
        "baggage": f"user=42;p=1 , {plan['baggage']},%63utset2={plan['tracestate'][7:]} , cut=%20mine",
        "uberctx-cutset2": plan["uberctx-cutset"],
        "uberctx-user": "42",
        "x-cutset-gate": "1",
        "x-envoy-fault-abort-request": "503",
        "x-envoy-attempt-count": "7",
    }
    response = lab.client.get(f"{lab.mesh.edge_url}/", headers=headers)
    assert response.status_code == 200
    seen = response.json()["headers"]
    assert seen.get("tracestate", "") == ""
    assert seen["baggage"] == "user=42;p=1,cut=%20mine"
    assert seen["traceparent"].split("-")[1] == plan["traceparent"].split("-")[1]
    assert (seen["uberctx-user"], seen["x-envoy-attempt-count"]) == ("42", "1")
    assert not [name for name in seen if name.startswith(("uberctx-cutset", "x-cutset", "x-envoy-fault"))]
    assert "baggage" not in lab.client.get(f"{lab.mesh.edge_url}/", headers={"baggage": "%63utset=x"}).json()["headers"]
    only_plan = lab.client.get(f"{lab.mesh.edge_url}/", headers={"baggage": plan["baggage"]}).json()["headers"]
    assert "baggage" not in only_plan


def test_the_edge_stays_closed_when_experiments_are_halted(lab):
    try:
        lab.client.post(f"{lab.mesh.admin_url}/runtime_modify", params={"cutset.enabled": "0"})
        seen = lab.client.get(f"{lab.mesh.edge_url}/", headers=lab.headers("web/*")).json()["headers"]
    finally:
        lab.client.post(f"{lab.mesh.admin_url}/runtime_modify", params={"cutset.enabled": ""})
    assert "baggage" not in seen


def test_a_failed_post_is_not_repeated(lab):
    def calls():
        return sum(server.calls.count("/status/500") for server in lab.servers["web"])

    before = calls()
    assert lab.get("web", "/status/500", method="POST").status_code == 500
    assert calls() == before + 1


def test_injected_failures_never_eject_a_replica_but_real_ones_do(lab):
    ejections = "outbound_guarded.outlier_detection.ejections_enforced_total"
    for _ in range(40):
        lab.get("guarded", "/", "guarded/GET /#1")
    assert lab.statistic(ejections) == 0
    assert {lab.get("guarded", "/").json()["replica"] for _ in range(10)} == {"1", "2"}
    for _ in range(40):
        lab.get("guarded", "/status/500")
    _wait_for_ejection(lab, ejections)


def test_injected_grpc_failures_never_eject_a_replica_but_real_ones_do(lab):
    ejections = "outbound_ledger.outlier_detection.ejections_enforced_total"
    for _ in range(40):
        lab.call("ledger", "GetCart", lab.headers("ledger/GetCart#1:grpc(14)"))
    for _ in range(40):
        lab.call("ledger", "Fail5", lab.headers())  # not found: an answer, not a failure
    assert lab.statistic(ejections) == 0
    assert {lab.call("ledger", "GetCart", lab.headers())[1]["replica"] for _ in range(10)} == {"1", "2"}
    for _ in range(40):
        lab.call("ledger", "Fail13", lab.headers())
    _wait_for_ejection(lab, ejections)


def test_outlier_detection_changes_nothing_in_what_callers_see(lab):
    assert {lab.call("stock", "GetCart", lab.headers("stock/GetCart#1"))[0] for _ in range(10)} == {0}
    status, _, call = lab.call("stock", "GetCart", lab.headers("stock/GetCart:grpc(14)"))
    assert status == 14
    assert dict(call.trailing_metadata())["x-cutset-fault"] == "grpc(14)"
    assert "x-cutset-grpc-status" not in dict(call.trailing_metadata())
    assert lab.call("stock", "GetCart", lab.headers("stock/GetCart:grpc(7)"))[0] == 7
    assert lab.call("stock", "Fail9", lab.headers())[0] == 9


def _wait_for_ejection(lab, statistic):
    deadline = time.monotonic() + 20
    while lab.statistic(statistic) == 0:
        assert time.monotonic() < deadline, "no replica was ejected"
