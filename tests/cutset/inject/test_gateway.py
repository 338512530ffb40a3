"""A gateway as Istio configures it, in a real Envoy, with and without a tracer of its own, and sidecars behind it."""

import json
import random
import time
from itertools import islice

import pytest
from opentelemetry import propagate
from tests.samples.edge_mutations import RawClient, mutants
from tests.samples.sidecars import Proxy, run_proxies

from cutset.inject.ecdsa import new_private_key, public_key
from cutset.inject.gateway import gateway_filters, gateway_options
from cutset.inject.plan import plan_headers
from cutset.inject.sidecar import inbound_filters, inbound_options
from cutset.model.fault import Fault

SPAN = "00f067aa0ba902b7"
CARRIERS = ["tracestate", "baggage", "jaeger", "datadog"]
WAYS = ["traced", "plain"]


class Shop:
    def __init__(self, proxies, keys, lab):
        self.proxies, self.keys, self.lab = proxies, keys, lab

    def headers(self, *faults, environment="shop", **options):
        given = {"trace_id": self.lab.new_trace_id(), "span_id": SPAN, "key": self.keys[environment]}
        given |= {"environment": environment, "expires": time.time() + 60}
        return plan_headers(frozenset(map(Fault.parse, faults)), **(given | options))

    def get(self, way, headers, path="/"):
        return self.lab.client.get(self.proxies.urls[way] + path, headers=headers)

    def seen(self, way, headers):
        response = self.get(way, headers)
        assert response.status_code == 200
        return response.json()["headers"]


@pytest.fixture(scope="module")
def shop(lab, tmp_path_factory):
    keys = {"shop": new_private_key(), "bank": new_private_key()}
    public = {name: public_key(key) for name, key in keys.items()}
    echo = f"127.0.0.1:{lab.servers['solo'][0].server_port}"
    sidecar = Proxy("sidecar", echo, inbound_filters({}, "shop", public["shop"]), inbound_options())

    def gateway(name, environments, to, *, traced, strip_all=False):
        filters = [each for e in environments for each in gateway_filters(e, public[e], strip_all=strip_all)]
        early = [each for e in environments for each in gateway_options(e)["early_header_mutation_extensions"]]
        return Proxy(
            name, to, filters, {"early_header_mutation_extensions": early}, traced=traced, counts_attempts=True
        )

    gateways = [sidecar]
    for name, traced in (("traced", True), ("plain", False)):
        gateways += [
            gateway(name, ["shop", "bank"], "sidecar", traced=traced),
            gateway(f"{name}-reversed", ["bank", "shop"], "sidecar", traced=traced),
            gateway(f"{name}-bare", ["shop"], echo, traced=traced),
            gateway(f"{name}-closed", ["shop"], "sidecar", traced=traced, strip_all=True),
        ]
    identity = {"ISTIO_META_WORKLOAD_NAME": "web", "POD_NAME": "web-1"}
    folder = tmp_path_factory.mktemp("gateway")
    with run_proxies(gateways, folder, collector=lab.mesh.spec.collector, environ=identity) as proxies:
        yield Shop(proxies, keys, lab)
        assert proxies.statistic("lua.errors") == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("carrier", CARRIERS)
def test_our_plan_gets_in_by_every_carrier(shop, way, carrier):
    faults = ["web/GET /", *(f"other{number}/X" for number in range(50 if carrier in ("baggage", "jaeger") else 1))]
    assert shop.get(way, shop.headers(*faults, carriers=[carrier])).status_code == 503
    assert shop.get(f"{way}-reversed", shop.headers(*faults, carriers=[carrier])).status_code == 503


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("carrier", CARRIERS)
def test_two_environments_let_each_other_s_plans_pass_and_a_third_s_not(shop, way, carrier):
    for name in (way, f"{way}-reversed"):
        for environment in ("shop", "bank"):
            headers = shop.headers(environment=environment, carriers=[carrier])
            plan = {key: value for key, value in headers.items() if "cutset" in key + value}
            assert plan.items() <= shop.seen(name, headers).items()
        for options in ({"key": shop.keys["bank"]}, {"key": new_private_key()}, {"key": b"x" * 32}):
            assert "cutset" not in str(shop.seen(name, shop.headers("web/*", carriers=[carrier], **options)))


@pytest.mark.parametrize("way", WAYS)
def test_the_drivers_own_span_gets_in_with_a_plan_of_ours_alone(shop, way):
    for carrier in CARRIERS:
        for options, passes in (({}, True), ({"environment": "bank"}, False), ({"key": new_private_key()}, False)):
            headers = shop.headers(carriers=[carrier], **options)
            seen = shop.seen(f"{way}-bare", {**headers, "x-cutset-entry": SPAN})
            assert ("x-cutset-entry" in seen) == passes


@pytest.mark.parametrize("way", WAYS)
def test_a_closed_gateway_lets_nothing_in(shop, way):
    for carrier in CARRIERS:
        assert "cutset" not in str(shop.seen(f"{way}-closed", shop.headers("web/*", carriers=[carrier])))


@pytest.mark.parametrize("way", WAYS)
def test_what_others_put_into_a_list_stays_beside_a_plan_and_without_one(shop, way):
    others = {
        "tracestate": "vendor=a b,shortcutset@x=2",
        "baggage": "user=42;p=1 ,  name=%C3%A9,shortcutSettings=1",
        "x-datadog-tags": "_dd.p.dm=-0",
        "uberctx-user": "a%20b",
        "x-cutsets": "theirs",
        "traceparent": f"00-{shop.lab.new_trace_id()}-{SPAN}-01",
    }
    plain = shop.seen(way, others)
    assert {name: plain.get(name) for name in others if name != "traceparent"} == {
        name: value for name, value in others.items() if name != "traceparent"
    }
    for options in ({}, {"key": new_private_key()}):
        plan = shop.headers(carriers=CARRIERS, **options)
        mixed = {name: f"{others[name]},{plan[name]}" for name in ("tracestate", "baggage", "x-datadog-tags")}
        seen = shop.seen(way, others | plan | mixed)
        for name in mixed:
            assert seen[name].startswith(others[name])
            assert ("cutset=" in seen[name]) == (not options)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_plan_of_another_trace_expired_or_of_another_environment_is_dropped(shop, way, carrier):
    headers = shop.headers("web/*", carriers=[carrier])
    plan = {name: value for name, value in headers.items() if "cutset" in name + value}
    for named in ({}, {"traceparent": f"00-{shop.lab.new_trace_id()}-{SPAN}-01"}):
        assert "cutset" not in str(shop.seen(f"{way}-bare", plan | named))
    for options in ({"expires": time.time() - 1}, {"environment": "bank", "key": shop.keys["shop"]}):
        assert "cutset" not in str(shop.seen(f"{way}-bare", shop.headers("web/*", carriers=[carrier], **options)))


@pytest.mark.parametrize(("before", "gets_in"), [(4, True), (5, False)])
def test_behind_too_many_wrong_signatures_nothing_gets_in(shop, before, gets_in):
    genuine = shop.headers("web/*", carriers=["baggage"])
    value = genuine["baggage"].removeprefix("cutset=")
    forged = ",".join(f"cutset={value[:-4]}{number:02d}AA" for number in range(before))
    response = shop.get("plain", genuine | {"baggage": f"{forged},{genuine['baggage']}"})
    assert response.status_code == (503 if gets_in else 200)


def test_what_mentions_us_but_is_no_plan_is_dropped(shop):
    for member in (
        "Cutset=P",
        "%63utset=P",
        "cutset%09=P",
        "x=1%2Ccutset%3DP",
        "cutset",
        "cutset==",
        "_dd.p.cutset=P ",
    ):
        for name in ("baggage", "x-datadog-tags"):
            assert shop.seen("plain", {name: f"a=1,{member},b=%20"})[name] == "a=1,b=%20"
    for name in ("x-cutset-gate", "x-cutset-tracestate", "uberctx-%63utset", "uberctx-cutset", "ot-baggage-cutset"):
        assert "cutset" not in str(shop.seen("plain-bare", {name: "cutset=P", "baggage": "cutset"}))
    forged = {"tracestate": "vendor=1", "x-cutset-tracestate": "vendor=2"}
    assert shop.seen("plain-bare", forged | {"baggage": "cutset"}).items() >= {"tracestate": "vendor=1"}.items()
    assert "baggage" not in shop.seen("plain", {"baggage": f"a=1,cutset=P,{'b' * 9000}=1"})


def test_no_mutation_of_a_plan_of_another_trace_passes_the_gateway(shop):
    plan = shop.headers("web/*", carriers=["baggage"])["baggage"].removeprefix("cutset=")
    gateway = RawClient(shop.proxies.urls["traced"])
    for headers in islice(mutants(plan, random.Random(13)), 150):
        own = f"00-{shop.lab.new_trace_id()}-{SPAN}-01".encode()
        status, answered, body = gateway.get([(b"traceparent", own), *headers])
        assert "x-cutset-fault" not in answered
        handed_on: dict[str, str] = {}
        propagate.inject(handed_on, propagate.extract(json.loads(body)["headers"] if status == 200 else {}))
        members = ",".join(handed_on.values()).split(",")
        assert not [member for member in members if member.strip().startswith("cutset")], headers
    gateway.close()
