"""filter.lua inside a real Envoy: agreement with wire.py, every kind of fault, and what must never cause one."""

import hmac
import json
import random
import string
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from importlib.resources import files

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from cutset.inject.local import envoy
from cutset.inject.local import mesh as mesh_module
from cutset.inject.local.mesh import run_mesh
from cutset.model.mesh import MeshService, MeshSpec
from cutset_agent import wire

PATIENCE_SECONDS = 20
VECTORS = json.loads(files("cutset_agent").joinpath("wire_vectors.json").read_text(encoding="utf-8"))

# Lets a test call the functions of the filter: they are local to the same chunk.
HOOK = """
function envoy_on_request(handle)
  local headers = handle:headers()
  local name, a, b, c = headers:get("x-call"), headers:get("x-1"), headers:get("x-2"), headers:get("x-3")
  local answer
  if name == "target_id" then answer = target_id(a, b)
  elseif name == "traces_in" then answer = table.concat(traces_in(headers), ",")
  elseif name == "normalise_api" then answer = normalise_api(a, b, c == "true")
  else
    local part = verified(nil, a, b, handle)
    answer = "rejected"
    if part then
      answer = part.expires .. " " .. part.salt
      for _, family in ipairs({ part.answers, part.delays }) do
        for id, fault in pairs(family) do
          answer = answer .. " " .. table.concat({ id, fault.kind, fault.value, fault.percent, fault.attempts }, ",")
          for character in string.gmatch(fault.body and "," .. fault.body or "", ".") do
            answer = answer .. (character == "," and "," or string.format("%02x", character:byte()))
          end
        end
      end
    end
  end
  handle:respond({ [":status"] = "200" }, answer)
end
"""


def _calls_within_envoy(work_dir, key):
    """Calls a function of filter.lua within Envoy."""
    original = envoy.filter_source
    spec = MeshSpec((MeshService("any", "http", ("127.0.0.1:9",)),), environment=VECTORS["environment"])
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(envoy, "filter_source", lambda *identity: original(*identity) + HOOK)
            mesh = stack.enter_context(run_mesh(spec, key=key, work_dir=work_dir))
        client = stack.enter_context(httpx.Client())

        def call(function, *arguments, **more):
            headers = [(b"tracestate", b"cutset"), (b"x-call", function.encode())]
            headers += [(name.encode(), text.encode()) for name, text in more.items()]
            headers += [(f"x-{n}".encode(), text.encode()) for n, text in enumerate(arguments, start=1)]
            return client.get(f"http://{mesh.addresses['any']}/", headers=headers).text

        yield call


@pytest.fixture(scope="module")
def lua(tmp_path_factory):
    yield from _calls_within_envoy(tmp_path_factory.mktemp("hook"), VECTORS["key"].encode())


@pytest.fixture(scope="module")
def lua_with_public_key(tmp_path_factory):
    """No secret in it at all."""
    key = ec.derive_private_key(int(VECTORS["private_key"], 16), ec.SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    yield from _calls_within_envoy(tmp_path_factory.mktemp("public"), pem)


def test_lua_finds_the_trace_as_python_does(lua):
    for vector in VECTORS["traces"]:
        assert lua("traces_in", **vector["headers"]) == ",".join(vector["ids"]), vector


def test_lua_names_apis_as_python_does(lua):
    for vector in VECTORS["apis"]:
        found = lua("normalise_api", vector["method"], vector["path"], str(vector["grpc"]).lower())
        assert found == vector["api"], vector


def test_lua_hashes_targets_as_python_does(lua):
    for vector in VECTORS["ids"]:
        assert lua("target_id", vector["salt"], vector["target"]) == vector["id"], vector


def test_lua_reads_the_golden_plans_as_python_does(lua, lua_with_public_key):
    for plan in VECTORS["plans"]:
        _compare(lua, plan["parts"], plan["parts"])
        _compare(lua_with_public_key, plan["signed_parts"], _as_shared(plan["signed_parts"]))


def _as_shared(signed_parts):
    """The same bodies, signed with the shared key, which Python can read."""
    key, environment, trace = VECTORS["key"].encode(), VECTORS["environment"], VECTORS["trace"]
    bodies = ["2h" + part.rpartition(".")[0][2:] for part in signed_parts]
    return [f"{body}.{wire._proof(wire._shared(key), environment, trace, body)}" for body in bodies]


def _compare(lua, parts, read_by_python):
    for part, twin in zip(parts, read_by_python, strict=True):
        decoded = wire.decode(twin, VECTORS["key"].encode(), VECTORS["environment"], VECTORS["trace"], VECTORS["now"])
        expected = {
            f"{identity},{fault.kind},{fault.value},{fault.percent},{fault.attempts or 'inf'}"
            + (f",{fault.text.encode().hex()}" if fault.text else "")
            for identity, fault in decoded.faults
            if fault.kind != "L" and not fault.occurrence  # those are for agents
        }
        expires, salt, *faults = lua("verified", part, VECTORS["trace"][16:]).split(" ")
        assert (float(expires) / 1000, salt) == (decoded.expires, decoded.salt)
        assert set(faults) == expected


def test_lua_rejects_the_golden_forgeries(lua, lua_with_public_key):
    trace = VECTORS["trace"][16:]
    for vector in VECTORS["rejected"]:
        if vector["reason"] not in ("expired", "lives too long"):  # expiry is checked at each use, not once
            assert lua("verified", vector["value"], trace) == "rejected", vector
    for value in VECTORS["rejected_signed"]:
        assert lua_with_public_key("verified", value, trace) == "rejected", value


def test_lua_decides_signatures_at_the_limits_as_agents_do(lua_with_public_key):
    for vector in VECTORS["signatures"]:
        accepted = lua_with_public_key("verified", vector["value"], VECTORS["trace"][16:]) != "rejected"
        assert accepted == vector["accepted"], vector


def test_an_abort_is_answered_by_the_sidecar(lab):
    response = lab.get("solo", "/items/42?x=1", "solo/GET /items/*:abort(418)")
    assert response.status_code == 418
    assert response.headers["x-cutset-fault"] == "abort(418)"
    assert lab.get("solo", "/items", "solo/GET /items/*:abort(418)").status_code == 200


def test_an_abort_on_grpc_is_a_trailers_only_reply(lab):
    status, _, call = lab.call("cart", "GetCart", lab.headers("cart/GetCart:grpc(8)"))
    assert status == 8
    assert dict(call.initial_metadata()) == {}, "trailers-only: all metadata is trailing"
    assert dict(call.trailing_metadata())["x-cutset-fault"] == "grpc(8)"
    assert lab.call("cart", "AddItem", lab.headers("cart/GetCart:grpc(8)"))[0] == 0


def test_an_http_status_on_grpc_means_unavailable(lab):
    assert lab.call("cart", "GetCart", lab.headers("cart/GetCart:abort(503)"))[0] == 14


def test_a_grpc_status_on_http_becomes_its_http_status(lab):
    assert lab.get("solo", "/", "solo/GET /:grpc(8)").status_code == 429
    assert lab.get("solo", "/", "solo/GET /:grpc(13)").status_code == 500


def test_a_delay_holds_the_call_back(lab):
    assert lab.get("hasty", "/", "hasty/GET /:delay(1ms)").status_code == 200
    assert lab.get("hasty", "/", "hasty/GET /:delay(60000ms)").status_code == 504


def test_a_delay_and_an_abort_combine(lab):
    trace_id = lab.new_trace_id()
    response = lab.get("solo", "/", "solo/GET /:delay(5ms)", "solo/GET /:abort(500)", trace_id=trace_id)
    assert response.status_code == 500
    assert lab.sink.wait_for(trace_id)[0]["response_flags"] == "DI,FI"


def test_all_replicas_but_one_may_fail(lab):
    two = ["web/GET /#1", "web/GET /#3"]
    replies = [lab.get("web", "/", *two) for _ in range(20)]
    assert {(reply.status_code, reply.json()["replica"]) for reply in replies} == {(200, "2")}
    assert {lab.get("web", "/", *two, "web/GET /#2").status_code for _ in range(20)} == {503}


def test_all_grpc_replicas_but_one_may_fail(lab):
    two = ["cart/GetCart#1", "cart/GetCart#2"]
    replies = [lab.call("cart", "GetCart", lab.headers(*two)) for _ in range(20)]
    assert {(status, seen["replica"]) for status, seen, _ in replies} == {(0, "3")}
    assert {lab.call("cart", "GetCart", lab.headers(*two, "cart/GetCart#3"))[0] for _ in range(20)} == {14}


def test_a_fault_of_one_attempt_is_survived_by_a_retry(lab):
    reply = lab.get("web", "/", "web/GET /:abort(503),attempts=1")
    assert (reply.status_code, reply.json()["headers"]["x-envoy-attempt-count"]) == (200, "2")


def test_a_star_stands_for_every_api_of_a_service_or_replica(lab):
    assert lab.get("solo", "/a/b", "solo/*").status_code == 503
    assert lab.get("solo", "/a/b", "solo/*#1").status_code == 503
    assert lab.get("solo", "/a/b", "solo/*#2").status_code == 200


def test_the_most_particular_target_decides(lab):
    levels = ["solo/GET /x#1:abort(501)", "solo/GET /x:abort(502)", "solo/*#1:abort(503)", "solo/*:abort(504)"]
    for first, expected in enumerate((501, 502, 503, 504)):
        assert lab.get("solo", "/x", *levels[first:]).status_code == expected


def test_a_percentage_fails_that_share_of_calls(lab):
    replies = [lab.get("solo", "/", "solo/GET /:abort(503),50%") for _ in range(400)]
    failed = [reply for reply in replies if reply.status_code == 503]
    assert 140 <= len(failed) <= 260  # six standard deviations
    assert all(("x-cutset-fault" in reply.headers) == (reply.status_code == 503) for reply in replies)


def test_requests_in_flight_do_not_disturb_each_other(lab):
    def experiment(number):
        replicas = [replica for replica in (1, 2, 3) if number >> replica & 1]
        if number % 16 == 0:  # an ordinary user
            return lab.client.get(f"http://{lab.mesh.addresses['web']}/").status_code == 200
        faults = [f"web/GET /#{replica}" for replica in replicas] + [f"other{number}/X"]
        return (lab.get("web", "/", *faults).status_code == 503) == (len(replicas) == 3)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(experiment, range(800)))


@pytest.mark.parametrize("carrier", ["tracestate", "baggage", "jaeger", "datadog"])
def test_each_carrier_alone_brings_the_plan(lab, carrier):
    assert lab.get("solo", "/", "solo/GET /", carriers=[carrier]).status_code == 503
    assert lab.call("cart", "GetCart", lab.headers("cart/GetCart", carriers=[carrier]))[0] == 14


@pytest.mark.parametrize("carriers", [("tracestate", "baggage"), ("baggage",), ("jaeger",)])
def test_every_point_of_a_plan_of_many_parts_counts(lab, carriers):
    # Sorted by name, so that the point of this service is in the last part.
    faults = [f"other{n}/GET /{n}" for n in range(120)] + ["solo/GET /many"]
    assert lab.get("solo", "/many", *faults, carriers=carriers).status_code == 503


def test_a_plan_may_be_in_a_second_header_among_other_members(lab):
    planned = lab.headers("solo/GET /")
    plan = planned["tracestate"]
    for name, others in (("tracestate", ["a=1", f"b=2 , {plan} ,c=3"]), ("baggage", ["a=1;p=q", f"b=2,{plan};p=q,c"])):
        headers = [("traceparent", planned["traceparent"]), *((name, text) for text in others)]
        assert lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=headers).status_code == 503


def test_a_plan_whose_tildes_were_escaped_still_counts(lab):
    headers = lab.headers("solo/GET /", carriers=["jaeger"])
    headers["uberctx-cutset"] = headers["uberctx-cutset"].replace("~", "%7E")
    assert lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=headers).status_code == 503


def test_the_kill_switch_ends_all_faults_at_once(lab):
    try:
        lab.client.post(f"{lab.mesh.admin_url}/runtime_modify", params={"cutset.enabled": "0"})
        assert lab.get("solo", "/", "solo/GET /").status_code == 200
    finally:
        lab.client.post(f"{lab.mesh.admin_url}/runtime_modify", params={"cutset.enabled": ""})
    assert lab.get("solo", "/", "solo/GET /").status_code == 503


def test_a_plan_that_was_accepted_still_expires(lab):
    expires = time.time() + 2
    headers = lab.headers("solo/GET /", expires=expires)
    statuses = [lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=headers).status_code]
    while statuses[-1] == 503 and time.time() < expires + PATIENCE_SECONDS:
        statuses.append(lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=headers).status_code)
    assert (statuses[0], statuses[-1]) == (503, 200)
    assert time.time() > expires


def test_nothing_but_a_valid_plan_causes_a_fault(lab):
    faults = ("solo/*", "solo/*:delay(60000ms)")
    before = lab.statistic("fault.(aborts|delays)_injected")
    random_source = random.Random(20250101)
    for carriers in (["tracestate"], ["baggage"], ["jaeger"], ["datadog"]):
        genuine = lab.headers(*faults, carriers=carriers)
        for headers in _forgeries(lab, faults, genuine, carriers, random_source):
            response = lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=headers)
            assert response.status_code == 200, headers
    assert lab.statistic("fault.(aborts|delays)_injected") == before
    assert lab.statistic("lua.errors") == 0


def _forgeries(lab, faults, genuine, carriers, random_source):
    name, value = next((name, value) for name, value in genuine.items() if "cutset" in name + value)
    trace = {"traceparent": f"00-{lab.new_trace_id()}-00f067aa0ba902b7-01"}
    others = {key: text for key, text in genuine.items() if key == name}
    yield others | trace  # of another trace
    yield others
    start = value.find("cutset=") + len("cutset=") if "cutset=" in value else 0
    for _ in range(100):
        position = random_source.randrange(start, len(value))
        other = random_source.choice([c for c in string.ascii_letters + string.digits + "-_.~" if c != value[position]])
        yield genuine | {name: value[:position] + other + value[position + 1 :]}
    for _ in range(60):
        noise = "".join(random_source.choices(string.printable[:95], k=random_source.randrange(1, 300)))
        yield genuine | {name: (value[:start] + noise).strip()}
    yield lab.headers(*faults, carriers=carriers, key=b"another key" * 3)
    yield lab.headers(*faults, carriers=carriers, environment="production")
    yield lab.headers(*faults, carriers=carriers, expires=time.time() - 1)
    yield genuine | {name: value[:-17]}  # no signature
    yield genuine | {name: value + "=junk"}
    yield genuine | {name: value + " junk"}
    for carrier in ({}, {name: value[:start] + "2h.x"}, lab.headers(carriers=carriers)):
        for asked in ("abort-request", "abort-grpc-request", "delay-request"):
            forged = {"x-cutset-gate": "1", f"x-envoy-fault-{asked}": "503"}
            yield carrier | forged | {f"x-envoy-fault-{asked.partition('-')[0]}-request-percentage": "100"}


def test_who_calls_past_the_mesh_meets_the_fault_too(lab):
    """A gateway, a caller without a sidecar: nobody counts its attempts."""
    dumped = lab.client.get(f"{lab.mesh.admin_url}/config_dump?resource=static_listeners").json()["configs"]
    addresses = {each["listener"]["name"]: each["listener"]["address"]["socket_address"] for each in dumped}
    (inbound,) = (address for name, address in addresses.items() if name.startswith("inbound") and "solo" in name)
    url = f"http://{inbound['address']}:{inbound['port_value']}/"

    assert lab.client.get(url, headers=lab.headers("solo/*")).status_code == 503
    assert lab.client.get(url, headers=lab.headers("solo/*:abort(503),attempts=1")).status_code == 503
    assert lab.client.get(url, headers=lab.headers("web/*")).status_code == 200
    assert lab.statistic("lua.errors") == 0


@pytest.mark.parametrize("before", [40, 80])
def test_of_a_request_with_very_many_plans_only_the_first_are_looked_at(lab, before):
    genuine = lab.headers("solo/*", carriers=["baggage"])
    forged = ",".join(f"cutset{number}=2h.{number:07d}A.{'A' * 16}" for number in range(2, before + 2))
    headers = genuine | {"baggage": f"{forged},{genuine['baggage']}"}

    status = lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=headers).status_code
    assert status == (503 if before < 64 else 200)


@pytest.mark.parametrize(("before", "status"), [(4, 503), (5, 200)])
def test_behind_too_many_wrong_signatures_nothing_counts(lab, before, status):
    genuine = lab.headers("solo/*", carriers=["baggage"])
    endings = (f"{number:02d}" for number in range(before + 1))
    forged = [genuine["baggage"][:-2] + ending for ending in endings if not genuine["baggage"].endswith(ending)]

    headers = genuine | {"baggage": ",".join([*forged[:before], genuine["baggage"]])}
    assert lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=headers).status_code == status


def test_a_plan_that_somebody_read_does_nothing_in_another_trace(lab):
    for number in range(64):
        trace_id = f"{0x4BF92F3577B34DA6A3CE929D0E0E4736 + number:032x}"
        read = lab.headers("solo/*", trace_id=trace_id, carriers=["tracestate", "baggage", "jaeger", "datadog"])
        plan = {name: value for name, value in read.items() if "cutset" in name + value}
        other = f"{int(trace_id, 16) ^ 1 << number:032x}"
        for named in ({"traceparent": f"00-{other}-00f067aa0ba902b7-01"}, {"x-b3-traceid": other[16:]}, {}):
            assert lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=plan | named).status_code == 200
        own = {"traceparent": f"00-{other}-00f067aa0ba902b7-01", "x-b3-traceid": trace_id[16:]}
        assert lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=plan | own).status_code == 503


def test_helper_headers_never_reach_the_service(lab):
    forged = {"x-cutset-gate": "1", "x-envoy-fault-abort-request": "503", "x-envoy-fault-throughput-response": "1"}
    delayed = lab.headers("solo/GET /:delay(1ms),100%")
    for headers in (delayed, forged | delayed, forged | lab.headers("solo/GET /:abort(503),1%")):
        while (response := lab.client.get(f"http://{lab.mesh.addresses['solo']}/", headers=headers)).status_code == 503:
            pass
        seen = response.json()["headers"]
        assert [name for name in seen if name.startswith(("x-cutset", "x-envoy-fault"))] == []


@pytest.mark.parametrize("key", [b"", b"x" * 31])
def test_without_a_key_that_nobody_guesses_no_plan_counts(lab, mesh_dir, monkeypatch, key):
    monkeypatch.setattr(mesh_module, "MIN_KEY_BYTES", 0)  # it refuses such a key; other sidecars may have one
    monkeypatch.setenv("CUTSET_KEY", "a key for tests that nobody guesses")  # of the driver, not of this mesh
    spec = MeshSpec((replace(lab.mesh.spec.services[1], port=0),), environment="test")
    with run_mesh(spec, key=key, work_dir=mesh_dir) as mesh:
        url = f"http://{mesh.addresses['solo']}/"
        assert lab.client.get(url, headers=lab.headers("solo/GET /")).status_code == 200
        body = f"2h.{wire._to_digits(round(time.time() * 1000) + 60_000, 7)}A~A503.{wire.target_id('A', 'solo')}"
        guessed = wire.WireSigner("h", lambda text: hmac.digest(key, text, "sha256")[:12])
        plan = {"traceparent": f"00-{'1' * 32}-{'2' * 16}-01"}
        plan["tracestate"] = f"cutset={body}.{wire._proof(guessed, 'test', '1' * 32, body)}"
        assert lab.client.get(url, headers=plan).status_code == 200
