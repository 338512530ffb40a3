import json
import time
from importlib.resources import files

import pytest

from cutset_agent import carriers, wire

VECTORS = json.loads(files("cutset_agent").joinpath("wire_vectors.json").read_text(encoding="utf-8"))
KEY = b"a key for tests that nobody guesses"
TRACE, OTHER = "ab" * 16, "cd" * 16
W3C, JAEGER = ("traceparent", f"00-{TRACE}-{'1' * 16}-01"), ("uber-trace-id", f"{TRACE}:{'1' * 16}:0:1")
FRESH = ("traceparent", f"00-{OTHER}-{'1' * 16}-01")


def parts(count=1, trace_id=TRACE):
    faults = [(wire.WireTarget(f"s{number}"), wire.WireFault("D", number + 1)) for number in range(count)]
    now = time.time()
    return wire.encode(faults, key=KEY, environment="test", trace_id=trace_id, expires=now + 60, now=now)


def read(headers, **more):
    return carriers.read_plan(headers, key=KEY, environment="test", now=time.time(), **more)


@pytest.mark.parametrize("vector", VECTORS["traces"], ids=lambda vector: vector["about"])
def test_traces_are_found_as_the_golden_vectors_say(vector):
    assert [each[-16:] for each in carriers.traces_in(vector["headers"].items())] == vector["ids"]


def test_a_plan_counts_if_any_of_the_requests_traces_is_its_own():
    plan = [("baggage", wire.to_baggage(parts()))]
    assert len(read([W3C, *plan])) == len(read([FRESH, JAEGER, *plan])) == 1
    assert len(read(plan, trace_ids=(TRACE,))) == 1
    assert read([FRESH, *plan]) == read(plan) == ()


def test_all_parts_of_the_largest_plan_are_read_beside_a_foreign_trace():
    many = parts(500)
    assert len(many) > 20
    assert len(read([FRESH, JAEGER, ("baggage", wire.to_baggage(many))])) == len(many)


def test_a_plan_in_two_carriers_is_one():
    both = [("baggage", wire.to_baggage(parts())), ("tracestate", wire.to_tracestate(parts()))]
    found = read([W3C, *both])
    assert {part.salt for part in found} == {"A"}
    assert read([W3C, both[0], both[0]]) == read([W3C, both[0]])


def test_checks_are_counted_over_all_traces(monkeypatch):
    asked = []
    decode = wire.decode
    monkeypatch.setattr(wire, "decode", lambda *given: asked.append(given) or decode(*given))
    junk = ",".join(f"cutset={part}" for number in range(100) for part in parts(trace_id=f"{number + 1:032x}"))
    assert read([FRESH, JAEGER, ("baggage", junk)]) == ()
    assert len(asked) == carriers.MAX_REFUSED
    malformed = ",".join(f"cutset={number}" for number in range(100))
    assert read([FRESH, JAEGER, ("baggage", malformed)]) == ()
    assert len(asked) == carriers.MAX_REFUSED + carriers.MAX_TRIED


@pytest.mark.parametrize(("before", "counts"), [(4, True), (5, False)])
def test_behind_too_many_wrong_signatures_nothing_counts(before, counts):
    junk = [part for number in range(before) for part in parts(trace_id=f"{number + 1:032x}")]
    assert bool(read([W3C, ("baggage", wire.to_baggage([*junk, *parts()]))])) == counts


def test_what_names_plan_and_trace_is_carried_on():
    headers = [W3C, JAEGER, ("uberctx-user", "1"), ("baggage", "a=1"), ("baggage", "b=2"), ("accept", "*/*")]
    expected = {"uber-trace-id": JAEGER[1], "uberctx-user": "1", "baggage": "a=1,b=2"}
    assert carriers.carried_in(headers) == expected


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        ("Tracestate", "congo=1,cutset=x, cutset2=y,rojo=2", "congo=1,rojo=2"),
        ("baggage", "cutset=x", ""),
        ("baggage", " %20cutset=x,user=cutset", "user=cutset"),
        ("uberctx-cutset2", "x", ""),
        ("uberctx-user", "cutset", "cutset"),
        ("cookie", "cutset=1", "cutset=1"),
    ],
)
def test_a_plan_can_be_taken_out_of_a_header(name, value, left):
    assert carriers.without_plan(name, value) == left
