"""A sidecar as Istio configures it, in a real Envoy: what a plan does there, and that others do not notice us."""

import json
import time
from importlib.resources import files

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.samples.sidecars import Proxy, run_proxies

from cutset.inject.ecdsa import ecdsa_signer, public_key
from cutset.inject.plan import plan_headers
from cutset.inject.sidecar import inbound_filters, inbound_options, outbound_filters
from cutset.model.fault import Fault

SPAN = "00f067aa0ba902b7"
VECTORS = json.loads(files("cutset_agent").joinpath("wire_vectors.json").read_text(encoding="utf-8"))


def new_pem() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


class Mesh:
    def __init__(self, proxies, pem, lab):
        self.proxies, self.pem, self.lab = proxies, pem, lab

    def headers(self, *faults, **options):
        given = {"trace_id": self.lab.new_trace_id(), "span_id": SPAN, "key": ecdsa_signer(self.pem)}
        given |= {"environment": "shop", "expires": time.time() + 60}
        return plan_headers(frozenset(map(Fault.parse, faults)), **(given | options))

    def get(self, way, headers, path="/cart"):
        return self.lab.client.get(self.proxies.urls[way] + path, headers=headers)

    def tags(self, headers):
        (tags,) = self.lab.sink.wait_for(headers["traceparent"][3:35])
        return {name: value for name, value in tags.items() if name.startswith("cutset.") or name == "response_flags"}


@pytest.fixture(scope="module")
def mesh(lab, tmp_path_factory):
    pem = new_pem()
    echo = f"127.0.0.1:{lab.servers['solo'][0].server_port}"
    names = {"cart-v1": "cart", "other": "else"}
    inbound = Proxy("in", echo, inbound_filters(names, "shop", public_key(pem)), inbound_options())
    outbound = Proxy("out", "in", outbound_filters(), traced=False, counts_attempts=True)
    identity = {"ISTIO_META_WORKLOAD_NAME": "cart-v1", "POD_NAME": "cart-v1-7d9f-x"}
    folder = tmp_path_factory.mktemp("sidecar")
    with run_proxies([inbound, outbound], folder, collector=lab.mesh.spec.collector, environ=identity) as proxies:
        yield Mesh(proxies, pem, lab)
        assert proxies.statistic("lua.errors") == 0
        assert "script log" not in proxies.log.read_text()


@pytest.mark.parametrize("carrier", ["tracestate", "baggage", "jaeger", "datadog"])
def test_a_plan_in_any_carrier_fires_and_its_span_tells_of_it_as_on_the_local_mesh(mesh, carrier):
    headers = mesh.headers("cart/GET /cart", carriers=[carrier])
    response = mesh.get("out", headers)
    assert (response.status_code, response.headers["x-cutset-fault"]) == (503, "abort(503)")
    assert mesh.tags(headers) == {
        "cutset.service": "cart",
        "cutset.replica": "cart-v1-7d9f-x",
        "cutset.pod": "cart-v1-7d9f-x",
        "cutset.attempt": "1",
        "cutset.api": "GET /cart",
        "cutset.carriers": carrier,
        "cutset.fault": "abort(503)",
        "response_flags": "FI",
    }


@pytest.mark.parametrize("effect", ["empty", "truncated", "garbled"])
def test_an_answer_is_spoilt_and_its_span_tells_of_it(mesh, effect):
    headers = mesh.headers(f"cart/GET /cart:{effect}")
    response = mesh.get("out", headers)
    assert (response.status_code, "x-cutset-fault" in response.headers) == (200, False)
    assert response.content[:1] == {"empty": b"", "truncated": b"{", "garbled": bytes([255 - ord("{")])}[effect]
    tags = mesh.tags(headers)
    assert (tags["cutset.fault"], tags["cutset.spoilt"], tags["response_flags"]) == (effect, effect, "-")


def test_an_abort_has_the_body_of_the_plan(mesh):
    response = mesh.get("out", mesh.headers("cart/*:abort(503,{%22a%22:1})"))
    assert (response.status_code, response.json()) == (503, {"a": 1})


def test_the_replica_is_the_pod_and_the_service_not_the_workload(mesh):
    assert mesh.get("out", mesh.headers("cart/GET /cart#cart-v1-7d9f-x:abort(418)")).status_code == 418
    assert mesh.get("out", mesh.headers("cart/GET /cart#cart-v1-7d9f-y:abort(418)")).status_code == 200
    assert mesh.get("out", mesh.headers("cart-v1/GET /cart:abort(418)")).status_code == 200


def test_who_calls_past_a_sidecar_makes_its_first_attempt(mesh):
    headers = mesh.headers("cart/*:abort(503),attempts=1")
    assert mesh.get("in", headers).status_code == 503
    assert mesh.tags(headers)["cutset.attempt"] == "1"
    assert (
        mesh.get("in", {**mesh.headers("cart/*:abort(503),attempts=1"), "x-envoy-attempt-count": "2"}).status_code
        == 200
    )


def test_only_requests_that_may_carry_a_plan_are_traced(mesh):
    others = [
        {},
        {"tracestate": "vendor=1", "baggage": "user=1", "x-datadog-tags": "_dd.p.dm=-0", "uberctx-user": "1"},
        {"x-b3-sampled": "1"},
    ]
    for each in others:
        trace_id = mesh.lab.new_trace_id()
        answer = mesh.get("out", {**each, "traceparent": f"00-{trace_id}-{SPAN}-01"}).json()["headers"]
        assert each.items() <= answer.items()
        marked = mesh.headers(carriers=["datadog"])
        mesh.get("out", marked)
        assert mesh.tags(marked)["cutset.api"] == "GET /cart"  # exported behind it: the other's would be here by now
        assert not [span for span in mesh.lab.sink._spans if span.trace_id.hex() == trace_id]


def test_a_refused_plan_is_told_of_and_does_nothing(mesh):
    headers = mesh.headers("cart/*", key=ecdsa_signer(new_pem()))
    assert mesh.get("out", headers).status_code == 200
    tags = mesh.tags(headers)
    assert (tags["cutset.refused"], tags["cutset.service"]) == ("1", "cart")
    assert "cutset.api" not in tags


FORGED = {
    "x-cutset-gate": "1",
    "x-envoy-fault-abort-request": "503",
    "x-envoy-fault-delay-request": "60000",
    "x-envoy-fault-throughput-response": "1",
    "x-cutset-trace": "1" * 32,
    "x-cutset-span": "2" * 16,
    "x-cutset-context": "b3",
}


@pytest.mark.parametrize("plan", [None, ("cart/GET /cart:delay(1ms)",), ("other/*",), ()])
def test_nobody_can_ask_the_fault_filter_and_the_application_sees_nothing_of_ours(mesh, plan):
    planned = {} if plan is None else mesh.headers(*plan)
    for way in ("in", "out"):
        response = mesh.get(way, planned | FORGED)
        assert response.status_code == 200
        seen = response.json()["headers"]
        unseen = ("x-cutset", "x-envoy-fault", "x-client-trace-id")
        own = {"x-cutset-context"} if plan is None else set()  # without a plan it means nothing to anybody
        assert {name for name in seen if name.startswith(unseen)} == own


def test_the_drivers_own_span_is_told_by_the_first_sidecar_if_the_plan_is_ours(mesh):
    for options, told in (({}, SPAN), ({"key": ecdsa_signer(new_pem())}, None)):
        headers = mesh.headers(**options)
        seen = mesh.get("in", {**headers, "x-cutset-entry": SPAN}).json()["headers"]
        assert "x-cutset-entry" not in seen
        assert mesh.tags(headers).get("cutset.entry") == told
    headers = mesh.headers()
    mesh.get("in", {**headers, "x-cutset-entry": "no id"})
    assert "cutset.entry" not in mesh.tags(headers)


def test_a_client_that_asks_for_traces_itself_is_not_disturbed(mesh):
    seen = mesh.get("out", {"x-client-trace-id": "mine"}).json()["headers"]
    assert seen["x-client-trace-id"] == "mine"


@pytest.mark.parametrize("named", ["jaeger", "b3", "datadog"])
def test_services_that_copy_another_tracers_headers_make_a_chain_of_one_trace(mesh, named):
    headers = mesh.headers(carriers=["jaeger", "b3", "datadog", "baggage"])
    trace_id = headers["traceparent"][3:35]
    names = {"jaeger": ("uber-", "uberctx-"), "b3": ("b3", "x-b3-", "baggage"), "datadog": ("x-datadog-",)}[named]
    copied = {name: value for name, value in headers.items() if name.startswith(names)}
    seen = mesh.get("out", copied).json()["headers"]
    mesh.get("out", {name: seen[name] for name in copied})

    first, second = mesh.lab.sink.spans_of(trace_id, 2)
    assert (first.parent_span_id.hex(), second.parent_span_id) == (SPAN, first.span_id)
    context = {"jaeger": "uber-trace-id", "b3": "b3", "datadog": "x-datadog-trace-id"}[named]
    assert {tags["cutset.context"] for tags in mesh.lab.sink.wait_for(trace_id, 2)} == {context}


def test_requests_without_a_plan_keep_their_trace_context_as_it_is(mesh):
    jaeger = {"uber-trace-id": f"{'7' * 32}:{SPAN}:0:1"}
    answer = mesh.get("out", jaeger).json()["headers"]
    assert jaeger.items() <= answer.items()
    assert "7" * 32 not in answer.get("traceparent", "")


def test_with_what_is_no_public_key_of_the_curve_no_plan_counts(lab, tmp_path):
    key = ec.derive_private_key(int(VECTORS["private_key"], 16), ec.SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    echo = f"127.0.0.1:{lab.servers['solo'][0].server_port}"
    keys = {each["about"]: bytes.fromhex(each["key"]) for each in VECTORS["public_keys_refused"]}
    keys |= {"the key itself": public_key(pem)}
    proxies = [Proxy(about, echo, inbound_filters({"w": "web"}, "shop", der)) for about, der in keys.items()]
    with run_proxies(proxies, tmp_path, environ={"ISTIO_META_WORKLOAD_NAME": "w"}) as running:
        planned = Mesh(running, pem, lab)
        status = {about: planned.get(about, planned.headers("web/*")).status_code for about in keys}
        assert status == {about: 503 if about == "the key itself" else 200 for about in keys}
        assert running.statistic("lua.errors") == 0
