import re
import time

import pytest

from cutset.errors import PlanError
from cutset.inject.plan import plan_headers
from cutset.model.call_site import AgentCallSite
from cutset.model.fault import Fault
from cutset.model.point import Point
from cutset_agent import wire

CONTEXT = {"trace_id": "ab" * 16, "span_id": "cd" * 8, "environment": "test"}
KEY = b"a key for tests that nobody guesses"


def headers(*faults: str, **options):
    return plan_headers(
        frozenset(map(Fault.parse, faults)), **({"key": KEY, "expires": time.time() + 60} | CONTEXT | options)
    )


def decode(value: str) -> wire.WirePart:
    return wire.decode(value, KEY, "test", "ab" * 16, time.time())


def test_the_baseline_carries_a_signed_empty_plan():
    found = headers()
    assert found["traceparent"] == f"00-{'ab' * 16}-{'cd' * 8}-01"
    assert set(found) == {"traceparent", "tracestate", "baggage"}
    assert decode(found["tracestate"].removeprefix("cutset=")).faults == ()


def test_every_fault_of_a_cut_is_in_the_plan():
    faults = ("cart/GetCart#2:grpc(8),50%,attempts=1", "ad/*:delay(10ms)", "web/GET /x")
    part = decode(headers(*faults)["baggage"].removeprefix("cutset="))
    assert part.faults_at(wire.WireTarget("cart", "GetCart", "2")) == (wire.WireFault("G", 8, 50, 1),)
    assert part.faults_at(wire.WireTarget("ad")) == (wire.WireFault("D", 10),)
    assert part.faults_at(wire.WireTarget("web", "GET /x")) == (wire.WireFault("A", 503),)
    assert len(part.faults) == 3


def test_jaeger_has_headers_of_its_own():
    many = [f"s{n}/Get" for n in range(60)]
    found = headers(*many, carriers=["jaeger"])
    assert set(found) == {"traceparent", "uber-trace-id", "uberctx-cutset", "uberctx-cutset2"}
    assert found["uber-trace-id"] == f"{'ab' * 16}:{'cd' * 8}:0:1"


def test_no_point_of_the_catalogue_is_mistaken_for_a_planned_one():
    planned, other = _colliding_targets()
    catalogue = [Point(*planned.split("|")), Point(*other.split("|"))]
    unaware = decode(headers(planned.replace("|", "/"))["tracestate"][7:])
    aware = decode(headers(planned.replace("|", "/"), catalogue=catalogue)["tracestate"][7:])
    assert unaware.faults_at(wire.WireTarget(*other.split("|"))) != ()
    assert aware.faults_at(wire.WireTarget(*other.split("|"))) == ()
    assert aware.faults_at(wire.WireTarget(*planned.split("|"))) != ()


def _colliding_targets():
    seen = {}
    for number in range(1_000_000):
        target = f"service{number}|Get"
        if (other := seen.setdefault(wire.target_id("A", target), target)) != target:
            return other, target
    raise AssertionError


def test_a_callers_own_side_must_have_been_seen_by_its_agent():
    with pytest.raises(PlanError, match="`web>cart/GetCart` is the own side of web of a call, and no agent") as caught:
        headers("web>cart/GetCart")
    assert "`cart/GetCart`" in caught.value.hint


def test_agents_are_addressed_by_call_site():
    side, site = Point.parse("web>cart/GetCart"), AgentCallSite("web", "rpc/grpc/GetCart", "127.0.0.1:9")
    faults = ("web>cart/GetCart:connection-refused,call=2", "cart>cache/redis/get sessions:6379/0")
    found = decode(headers(*faults, call_sites={side: [site]})["baggage"].removeprefix("cutset="))

    (refused,) = found.faults_at(wire.WireTarget("web", "rpc/grpc/GetCart", "127.0.0.1:9"))
    assert (refused.kind, refused.value, refused.occurrence) == ("L", wire.fault_code("connection-refused"), 2)
    assert found.faults_at(wire.WireTarget("cart", "cache/redis/get", "sessions:6379/0"))
    assert not found.faults_at(wire.WireTarget("cart", "cache/redis/get"))


def test_what_an_agent_cannot_do_is_said():
    with pytest.raises(PlanError, match=r"`cart>cache/redis/get:library\(deadlock\)` cannot be done"):
        headers("cart>cache/redis/get:library(deadlock)")


def test_an_occurrence_cannot_be_expressed():
    with pytest.raises(PlanError, match="`cart/GetCart@2` names an occurrence") as caught:
        headers("cart/GetCart@2")
    assert "attempts=1" in caught.value.hint


def test_datadog_has_headers_of_its_own():
    found = headers("s/Get", carriers=["datadog"])
    assert set(found) - {"traceparent"} == {
        *("x-datadog-trace-id", "x-datadog-parent-id", "x-datadog-sampling-priority", "x-datadog-tags")
    }
    assert found["x-datadog-trace-id"] == str(int("ab" * 8, 16))
    assert found["x-datadog-tags"].startswith(f"_dd.p.tid={'ab' * 8},_dd.p.cutset=2h.")


def test_b3_names_the_trace_beside_a_carrier():
    found = headers("s/Get", carriers=["baggage", "b3"])
    assert found["b3"] == f"{'ab' * 16}-{'cd' * 8}-1"
    assert found["x-b3-traceid"] == "ab" * 16


@pytest.mark.parametrize("key", [b"", b"too short"])
def test_a_key_that_could_be_guessed_is_refused(key):
    with pytest.raises(PlanError, match=r"the signing key has \d bytes and needs 32") as caught:
        headers("cart/GetCart", key=key)
    assert "CUTSET_KEY" in caught.value.hint


def test_two_answers_at_one_point_are_refused():
    with pytest.raises(PlanError, match="can have one answer only, found A500 and G14"):
        headers("cart/GetCart:abort(500)", "cart/GetCart:grpc(14)")


def test_what_does_not_fit_is_refused_with_numbers():
    with pytest.raises(PlanError, match=r"A plan of 2000 faults does not fit: .* baggage holds 8192"):
        headers(*(f"s{n}/Get" for n in range(2000)))
    with pytest.raises(PlanError, match=r"A plan of 1500 faults does not fit: its headers take [0-9]+ bytes of 7168"):
        headers(*(f"s{n}/Get" for n in range(1500)))
    with pytest.raises(PlanError, match=r"A plan of 120 faults does not fit: tracestate hold 512 .* 2 of its 3 parts"):
        headers(*(f"s{n}/Get" for n in range(120)), carriers=["tracestate"])


@pytest.mark.parametrize("carriers", [(), ("pigeon",), ("b3",)])
def test_unknown_carriers_are_refused(carriers):
    with pytest.raises(PlanError, match="expected carriers out of tracestate, baggage, jaeger, datadog, besides b3"):
        headers("cart/GetCart", carriers=carriers)


def planned(*faults: str, **options) -> wire.WirePart:
    return decode(headers(*faults, **options)["baggage"].removeprefix("cutset="))


def test_a_timeout_is_a_delay_as_long_as_the_plan_lives_and_nobody_waits_longer():
    (fault,) = planned("cart/GetCart:timeout,attempts=1", expires=time.time() + 12).faults_at(
        wire.WireTarget("cart", "GetCart")
    )
    assert (fault.kind, fault.attempts) == ("D", 1)
    assert 11_000 < fault.value <= 12_000


@pytest.mark.parametrize(("effect", "number"), [("empty", 1), ("truncated", 2), ("garbled", 3)])
def test_answers_can_be_spoilt(effect, number):
    found = planned(f"cart/GetCart:{effect},50%,attempts=1").faults_at(wire.WireTarget("cart", "GetCart"))
    assert found == (wire.WireFault("B", number, 50, 1),)


def test_an_abort_may_have_a_body_of_sixty_bytes():
    (fault,) = planned("ad/X:abort(503,busy%21)").faults_at(wire.WireTarget("ad", "X"))
    assert fault.text == "busy!"
    assert headers(f"ad/X:abort(503,{'%C3%A4' * 30})")
    with pytest.raises(PlanError, match="the body takes 62 bytes of 60") as caught:
        headers(f"ad/X:abort(503,{'%C3%A4' * 31})")
    assert "shorter" in caught.value.hint


@pytest.mark.parametrize(
    ("effect", "why", "instead"),
    [
        ("connection-refused", "answered 503 in place of", "`cart/Get:abort(503)`, or name a caller"),
        ("connection-reset", "answered 503 in place of", "`caller>cart/Get:connection-reset`"),
        ("library(cache-miss)", "the caller's agent alone", "cart>cache/redis/get"),
        ("abort(503),call=2", "sidecars keep no count", "`caller>cart/Get:abort[(]503[)],call=2`"),
    ],
)
def test_what_a_sidecar_cannot_do_is_refused_with_the_reason(effect, why, instead):
    with pytest.raises(PlanError, match=why) as caught:
        headers(f"cart/Get:{effect}")
    assert re.search(instead.replace("(503)", "[(]503[)]"), caught.value.hint)
