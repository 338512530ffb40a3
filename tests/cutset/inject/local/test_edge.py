"""The edge in a real Envoy, and behind it a real SDK and a sidecar: no spelling of a plan gets through."""

import json
import random
from itertools import islice

import pytest
from opentelemetry import propagate
from tests.samples.edge_mutations import RawClient, mutants

from cutset.inject.local.edge import early_removal


@pytest.fixture
def seen(lab):
    def behind_the_edge(*headers):
        response = lab.client.get(f"{lab.mesh.edge_url}/", headers=list(headers))
        assert response.status_code == 200
        return response.json()["headers"]

    return behind_the_edge


@pytest.mark.parametrize(
    "member",
    [
        "cutset=P",
        "Cutset=P",
        "%63utset=P",
        "%2563utset=P",
        "%252563utset=P",
        "%u0063utset=P",
        "+cutset=P",
        "%20cutset=P",
        "cutset%09=P",
        "%00cutset=P",
        "cutset%C2%A0=P",
        "cut%E2%80%8Bset=P",
        "cutset9;p=1",
        "x=1;cutset=P",
        "x=1%2Ccutset%3DP",
        "_dd.p.cutset=P",
        "%25252525252563=P",
    ],
)
def test_a_member_in_which_the_key_may_be_read_is_dropped_and_the_others_stay(seen, member):
    for name in ("baggage", "x-datadog-tags"):
        assert seen((name, f"a=1, {member} ,b=%20"))[name] == "a=1,b=%20"
        assert seen((name, "a=1"), (name, member), (name, "b=2"))[name] == "a=1,b=2"
        assert name not in seen((name, member))


def test_what_has_nothing_of_a_plan_stays_as_it_is(seen):
    text = "user=42;p=1 ,  name=%C3%A9t%C3%A9,cut=set,odd=100%,x=%zz"
    assert seen(("baggage", text))["baggage"] == text
    assert seen(("uberctx-user", "a%20b"))["uberctx-user"] == "a%20b"


NAMES = """
    uberctx-cutset uberctx-cutset2 Uberctx-CUTSET uberctx-%63utset uberctx_cutset ot-baggage-cutset jaeger-baggage
    jaeger_baggage tracestate x_datadog_tags x-cutset-gate x-envoy-fault-abort-request
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_a_header_that_readers_take_for_a_plan_is_dropped(seen, name):
    assert seen((name, "cutset=P")).get(name.lower(), "") == ""  # Envoy's own tracer writes an empty tracestate


def test_a_plan_in_somebody_elses_baggage_is_dropped(seen):
    assert "uberctx-user" not in seen(("uberctx-user", "1%2Ccutset%3DP"))
    assert "ot-baggage-user" not in seen(("ot-baggage-user", "1,%63utset=P"))


def test_who_floods_the_edge_loses_all_of_the_header(seen):
    for plans, kept in ((16, {"baggage": "a=1"}), (17, {})):
        members = ",".join(f"cutset{number}=P" for number in range(plans))
        assert {name: text for name, text in seen(("baggage", f"a=1,{members}")).items() if name == "baggage"} == kept


def test_oversized_baggage_is_dropped(seen):
    members = ",".join(f"k{number}=v" for number in range(2000))
    assert "baggage" not in seen(("baggage", members))
    assert "baggage" not in seen(("baggage", members[:5000]), ("baggage", members[:5000]))


def test_no_mutation_of_a_plan_passes_the_edge_and_an_sdk(lab):
    """A few of what `make bench-truth` tries; without the edge many of them would fire."""
    plan = lab.headers("web/*", carriers=["baggage"], trace_id="5" * 32)
    edge = RawClient(lab.mesh.edge_url)
    fired = {"through": 0, "past": 0}
    for headers in islice(mutants(plan["baggage"].removeprefix("cutset="), random.Random(12)), 200):
        status, answered, body = edge.get([(b"traceparent", plan["traceparent"].encode()), *headers])
        assert "x-cutset-fault" not in answered
        let_in = json.loads(body)["headers"] if status == 200 else {}
        for way, received in (("through", let_in), ("past", _joined(headers))):
            handed_on = _handed_on(received | {"traceparent": plan["traceparent"]})
            response = lab.client.get(f"http://{lab.mesh.addresses['web']}/", headers=handed_on)
            fired[way] += "x-cutset-fault" in response.headers
    edge.close()
    assert fired["through"] == 0
    assert fired["past"] > 40, "the mutations are not harmful enough to prove anything"


def _joined(headers):
    joined = {}
    for name, value in headers:
        text = value.decode("latin-1").strip()
        key = name.decode("latin-1").lower()
        joined[key] = f"{joined[key]},{text}" if key in joined else text
    return joined


def _handed_on(received):
    """What a service with OpenTelemetry's Python SDK sends on."""
    sent: dict[str, str] = {}
    propagate.inject(sent, propagate.extract(received))
    return {name: value for name, value in sent.items() if value.isascii() and value.isprintable()}


def test_names_are_judged_before_a_tracer_reads_them():
    assert "remove_on_match" in str(early_removal())
