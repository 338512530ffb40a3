import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset_agent import wire
from cutset_agent.wire import WireFault, WireTarget

VECTORS = json.loads(files("cutset_agent").joinpath("wire_vectors.json").read_text(encoding="utf-8"))
KEY = b"a key for tests that nobody guesses"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
NOW = 2_000_000_000.0
SIGNED = {"key": KEY, "environment": "test", "trace_id": TRACE, "expires": NOW + 10, "now": NOW}

names = st.text(st.characters(exclude_characters="|", exclude_categories=["Cs"]), min_size=1, max_size=20)
targets = st.builds(
    WireTarget, names, st.text(st.characters(exclude_categories=["Cs"]), max_size=20), names | st.just("")
)
limits = (st.integers(1, 100), st.integers(0, 99), st.integers(0, 99))
delays = st.builds(WireFault, st.just("D"), st.integers(1, 3_600_000), *limits)
answers = (
    st.builds(WireFault, st.just("A"), st.integers(200, 599), *limits)
    | st.builds(WireFault, st.just("G"), st.integers(1, 16), *limits)
    | st.builds(WireFault, st.just("B"), st.integers(1, 3), *limits)
    | st.builds(WireFault, st.just("L"), st.integers(0, 9_999_999), *limits)
)


def decode(parts, now=NOW, trace_id=TRACE):
    return [wire.decode(part, KEY, "test", trace_id, now) for part in parts]


@pytest.mark.parametrize("vector", VECTORS["plans"], ids=lambda vector: vector["about"])
def test_plans_are_written_as_the_golden_vectors_say(vector):
    faults = [(WireTarget(*fault["target"]), WireFault(*fault["fault"])) for fault in vector["faults"]]
    catalogue = [WireTarget(*target) for target in vector.get("catalogue", ())]
    signed = {"environment": VECTORS["environment"], "trace_id": VECTORS["trace"]}
    signed |= {"expires": VECTORS["expires"], "now": VECTORS["now"], "catalogue": catalogue}
    assert list(wire.encode(faults, key=VECTORS["key"].encode(), **signed)) == vector["parts"]


def test_ids_are_as_the_golden_vectors_say():
    for vector in VECTORS["ids"]:
        assert wire.target_id(vector["salt"], vector["target"]) == vector["id"]


def test_faults_of_the_library_have_the_golden_codes():
    for vector in VECTORS["codes"]:
        assert wire.fault_code(vector["name"]) == vector["code"]


@pytest.mark.parametrize("vector", VECTORS["apis"], ids=lambda vector: vector["path"])
def test_apis_are_named_as_the_golden_vectors_say(vector):
    assert wire.normalise_api(vector["method"], vector["path"], vector["grpc"]) == vector["api"]


@pytest.mark.parametrize("vector", VECTORS["rejected"])
def test_golden_forgeries_are_rejected_with_their_reason(vector):
    with pytest.raises(wire.PlanRejectedError, match=f"^{vector['reason']}$"):
        wire.decode(vector["value"], VECTORS["key"].encode(), VECTORS["environment"], VECTORS["trace"], VECTORS["now"])


@given(st.dictionaries(targets, st.tuples(answers | st.none(), delays | st.none()), max_size=80))
def test_every_plan_can_be_read_back(plan):
    faults = [(target, fault) for target, pair in plan.items() for fault in pair if fault]
    parts = decode(wire.encode(faults, **SIGNED))
    for target, pair in plan.items():
        found = {fault for part in parts for fault in part.faults_at(target)}
        assert found == {fault for fault in pair if fault}
    assert sum(len(part.faults) for part in parts) == len(faults)


@given(st.sets(targets, min_size=50, max_size=50), answers | delays)
def test_fifty_points_with_the_same_fault_fit_one_value(fifty, fault):
    (value,) = wire.encode([(target, fault) for target in fifty], **SIGNED)
    assert len(value) <= 256


@given(st.integers(0, 500), st.integers(1, 40))
def test_no_part_and_no_carrier_exceeds_its_limit(count, kinds):
    faults = [(WireTarget(f"s{n}"), WireFault("D", 1 + n % kinds)) for n in range(count)]
    parts = wire.encode(faults, **SIGNED)
    assert all(len(part) <= wire.MAX_VALUE_CHARACTERS for part in parts)
    assert all(set(part) <= {*wire.ALPHABET, ".", "~"} for part in parts)
    assert len(wire.to_tracestate(parts)) <= 512
    assert len(wire.to_baggage(parts)) <= 8192
    assert wire.to_tracestate(parts).count("=") == min(2, len(parts))
    assert len(wire.to_datadog(parts, before="_dd.p.tid=4bf92f3577b34da6")) <= 448


def test_a_plan_beyond_the_baggage_limit_is_refused():
    parts = wire.encode([(WireTarget(f"s{n}"), WireFault("A", 503)) for n in range(2000)], **SIGNED)
    for carry in (wire.to_baggage, wire.to_jaeger):
        with pytest.raises(wire.PlanTooLargeError, match="baggage holds 8192"):
            carry(parts)


def test_a_colliding_catalogue_changes_the_salt():
    # 3,000 targets: some pair collides under most salts, but seldom one with the planned target.
    catalogue = [WireTarget(f"service{n}", "Get") for n in range(3000)]
    first = {wire.target_id("A", str(target)): target for target in catalogue}
    planned, other = next((t, first[i]) for t in catalogue if first[i := wire.target_id("A", str(t))] != t)
    (part,) = decode(wire.encode([(planned, WireFault("A", 503))], **SIGNED, catalogue=catalogue))
    assert part.salt != "A"
    assert not part.faults_at(other)


def test_if_every_salt_collides_the_plan_is_refused(monkeypatch):
    monkeypatch.setattr(wire, "target_id", lambda _salt, _target: "AAAA")
    with pytest.raises(wire.WireError, match="each of the 64 salts"):
        wire.encode([(WireTarget("a"), WireFault("A", 503)), (WireTarget("b"), WireFault("A", 503))], **SIGNED)


@pytest.mark.parametrize(
    ("faults", "complaint"),
    [
        ([WireFault("A", 503), WireFault("A", 500)], "one answer only, found A500 and A503"),
        ([WireFault("A", 503), WireFault("G", 14)], "one answer only, found A503 and G14"),
        ([WireFault("D", 1), WireFault("D", 1, 50)], "one delay only, found D1p50 and D1"),
    ],
)
def test_contradictions_are_refused(faults, complaint):
    with pytest.raises(wire.WireError, match=complaint):
        wire.encode([(WireTarget("a"), fault) for fault in faults], **SIGNED)


def test_each_occurrence_may_have_a_fault_of_its_own():
    faults = [(WireTarget("a", "cache/redis/get"), WireFault("L", 1, occurrence=number)) for number in (1, 2)]
    (part,) = decode(wire.encode(faults, **SIGNED))
    assert part.faults_at(WireTarget("a", "cache/redis/get")) == tuple(fault for _, fault in faults)


def test_the_same_fault_twice_is_one():
    once = [(WireTarget("a"), WireFault("A", 503))]
    assert wire.encode(once * 2, **SIGNED) == wire.encode(once, **SIGNED)


def test_nothing_is_signed_or_accepted_without_a_key():
    (value,) = wire.encode([], **SIGNED)
    for short in (b"", b"x" * 31):
        with pytest.raises(wire.WireError, match=f"the signing key has {len(short)} bytes and needs 32 or more"):
            wire.encode([], **SIGNED | {"key": short})
        with pytest.raises(wire.PlanRejectedError, match="no key"):
            wire.decode(value, short, "test", TRACE, NOW)


@pytest.mark.parametrize("expires", [-1, NOW + 120.001, 64**7, float("nan"), float("inf")])
def test_an_impossible_expiry_is_refused(expires):
    with pytest.raises(wire.WireError, match="expected an expiry in Unix seconds, 120s away at most"):
        wire.encode([], **SIGNED | {"expires": expires})


def test_a_plan_counts_up_to_its_millisecond_and_not_longer_than_readers_allow():
    (value,) = wire.encode([], **SIGNED | {"expires": NOW + 120})
    assert decode([value], NOW) == decode([value], NOW + 120)
    for now, reason in ((NOW + 120.001, "expired"), (NOW - 0.001, "lives too long")):
        with pytest.raises(wire.PlanRejectedError, match=reason):
            decode([value], now)


def test_a_plan_counts_in_its_trace_alone_by_its_last_64_bits():
    (value,) = wire.encode([], **SIGNED)
    assert decode([value], trace_id=TRACE[16:]) == decode([value], trace_id="f" * 16 + TRACE[16:].upper())
    for other, reason in ((TRACE[:-1] + "7", "wrong signature"), ("", "no trace"), ("1" + "0" * 16, "no trace")):
        with pytest.raises(wire.PlanRejectedError, match=reason):
            decode([value], trace_id=other)


@pytest.mark.parametrize("names", [("",), ("a|b",), ("a", "", "1|2")])
def test_names_that_would_be_ambiguous_are_refused(names):
    with pytest.raises(wire.WireError, match="expected names without"):
        WireTarget(*names)


@pytest.mark.parametrize(
    "fault",
    [
        ("X", 1),
        ("A", 199),
        ("G", 0),
        ("D", 0),
        ("A", 503, 0),
        ("A", 503, 100, 100),
        ("L", 10_000_000),
        ("L", 1, 100, 0, 100),
    ],
)
def test_impossible_faults_are_refused(fault):
    with pytest.raises(wire.WireError, match="within its limits"):
        WireFault(*fault)


def test_opentelemetry_carries_plans_unchanged():
    from opentelemetry.baggage.propagation import W3CBaggagePropagator
    from opentelemetry.propagators.composite import CompositePropagator
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    propagator = CompositePropagator([TraceContextTextMapPropagator(), W3CBaggagePropagator()])
    faults = [(WireTarget(f"s{n}", "Get", "1"), WireFault("D", 1000 + n % 3, 50, 1)) for n in range(1500)]
    parts = wire.encode(faults, **SIGNED)
    sent = {
        "traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01",
        "tracestate": wire.to_tracestate(parts),
        "baggage": wire.to_baggage(parts),
    }
    context = propagator.extract(sent)
    received: dict[str, str] = {}
    with TracerProvider().get_tracer("test").start_as_current_span("hop", context=context) as span:
        from opentelemetry.trace import set_span_in_context

        propagator.inject(received, set_span_in_context(span, context))
    assert received["tracestate"] == sent["tracestate"]
    assert received["baggage"] == sent["baggage"]


def test_no_plan_is_left_in_what_is_kept():
    values = [part for plan in VECTORS["plans"] for part in (*plan["parts"], *plan["signed_parts"])]
    for value in (*values, *(value.replace("~", "%7E") for value in values)):
        text = f'{{"traceState":"a=1,cutset={value},b=2","x":"cutset2={value}"}}'.encode()
        kept = wire.without_plans(text)
        assert kept == b'{"traceState":"a=1,cutset=plan-removed,b=2","x":"cutset2=plan-removed"}'
    assert wire.without_plans(b'{"cutset.service":"2h. and 2e.x"}') == b'{"cutset.service":"2h. and 2e.x"}'
