import time

import pytest

from cutset.errors import PlanError
from cutset.inject.plan import plan_headers
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


def test_a_caller_cannot_be_expressed():
    with pytest.raises(PlanError, match="`web>cart/GetCart` names a caller") as caught:
        headers("web>cart/GetCart")
    assert "`cart/GetCart`" in caught.value.hint


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
