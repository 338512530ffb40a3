"""Services that hand on the trace only in headers of Jaeger, B3 or Datadog, behind a real Envoy."""

from collections.abc import Callable, Mapping

import pytest

from cutset.inject.local.context import FOREIGN

Headers = Mapping[str, str]
PARENT = "00f067aa0ba902b7"


def jaeger(trace_id: str) -> Headers:
    return {"uber-trace-id": f"{trace_id.lstrip('0')}:{PARENT.lstrip('0')}:0:3"}  # as Jaeger's clients write it


def jaeger_quoted(trace_id: str) -> Headers:
    return {"uber-trace-id": f"{trace_id}%3A{PARENT}%3A0%3A1"}


def b3(trace_id: str) -> Headers:
    return {"b3": f"{trace_id}-{PARENT}-1-{PARENT}"}


def b3_of_64_bits(trace_id: str) -> Headers:
    return {
        "x-b3-traceid": trace_id[16:],
        "x-b3-spanid": PARENT,
        "x-b3-parentspanid": "1" * 16,
        "x-b3-sampled": "1",
    }


def datadog(trace_id: str) -> Headers:
    return {
        "x-datadog-trace-id": str(int(trace_id[16:], 16)),
        "x-datadog-parent-id": str(int(PARENT, 16)),
        "x-datadog-tags": f"_dd.p.dm=-0,_dd.p.tid={trace_id[:16]}",
    }


def spans_by_copying(lab, headers: Headers) -> Headers:
    """Calls a service, which calls itself once more with just these headers, as they came."""
    url = f"http://{lab.mesh.addresses['solo']}/"
    seen = lab.client.get(url, headers=headers).json()["headers"]
    copied = {name: seen[name] for name in headers if name in seen}
    lab.client.get(url, headers=copied)
    return seen


@pytest.mark.parametrize("names", [jaeger, jaeger_quoted, b3, b3_of_64_bits, datadog])
def test_services_that_copy_just_their_own_headers_make_a_chain_of_one_trace(lab, names: Callable[[str], Headers]):
    trace_id = lab.new_trace_id()
    headers = names(trace_id)
    seen = spans_by_copying(lab, headers)

    first, second = lab.sink.spans_of(trace_id, 2)

    assert first.parent_span_id.hex() == PARENT
    assert second.parent_span_id == first.span_id
    assert seen["traceparent"] == f"00-{trace_id}-{first.span_id.hex()}-01"
    told = {tag["cutset.context"] for tag in lab.sink.wait_for(trace_id, 2)}
    assert told == {next(name for name in FOREIGN if name in headers)}
    assert not [name for name in seen if name.startswith("x-cutset-")]


def test_ids_of_128_bits_are_kept_whole(lab):
    trace_id = "463ac35c9f6413ad48485a3953bb6124"
    spans_by_copying(lab, datadog(trace_id))
    assert len(lab.sink.spans_of(trace_id, 2)) == 2


def test_how_a_request_is_sampled_stays_as_it_is(lab):
    trace_id = lab.new_trace_id()
    assert spans_by_copying(lab, jaeger(trace_id))["uber-trace-id"].endswith(":0:3")
    assert spans_by_copying(lab, {"b3": f"{trace_id}-{PARENT}-0"})["b3"].endswith("-0")
    assert spans_by_copying(lab, {"b3": "0"})["b3"] == "0"


@pytest.mark.parametrize(
    "headers",
    [
        {"uber-trace-id": "zz"},
        {"uber-trace-id": "0:0:0:0"},
        {"uber-trace-id": f"{'1' * 33}:1:0:1"},
        {"b3": "1"},
        {"x-b3-traceid": "1"},
        {"x-datadog-trace-id": "9" * 21, "x-datadog-parent-id": "1"},
        {"x-datadog-trace-id": "7"},
    ],
)
def test_what_names_no_trace_is_left_alone(lab, headers: Headers):
    seen = spans_by_copying(lab, headers)
    assert {name: seen[name] for name in headers} == headers
    (span,) = lab.sink.spans_of(seen["traceparent"][3:35])
    assert span.parent_span_id == b""


def test_a_traceparent_decides_and_a_header_that_names_another_trace_is_not_touched(lab):
    trace_id = lab.new_trace_id()
    others = jaeger("7" * 32)
    seen = lab.get("solo", "/", trace_id=trace_id).request.headers
    answer = lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers={**seen, **others}).json()["headers"]

    assert answer["uber-trace-id"] == others["uber-trace-id"]
    assert answer["traceparent"][3:35] == trace_id


def test_beside_a_plan_all_headers_name_the_mesh_as_the_parent(lab):
    trace_id = lab.new_trace_id()
    headers = lab.headers(trace_id=trace_id) | jaeger(trace_id) | b3(trace_id) | datadog(trace_id)
    answer = lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=headers).json()["headers"]

    own = lab.sink.spans_of(trace_id)[0].span_id.hex()
    assert answer["uber-trace-id"].split(":")[1] == own
    assert answer["b3"].split("-")[1] == own
    assert int(answer["x-datadog-parent-id"]) == int(own, 16)


def test_grpc_calls_are_joined_alike(lab):
    trace_id = lab.new_trace_id()
    _, seen, _ = lab.call("cart", "GetCart", jaeger(trace_id))
    lab.call("cart", "GetCart", {"uber-trace-id": seen["headers"]["uber-trace-id"]})

    first, second = lab.sink.spans_of(trace_id, 2)
    assert second.parent_span_id == first.span_id
