"""In a real Envoy, configured as Istio configures sidecars."""

import time

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.samples.sidecars import Proxy, run_proxies

from cutset.inject.ecdsa import public_key
from cutset.inject.probe import PROBE_HEADER, PROBE_PATH, probe_headers
from cutset.inject.sidecar import inbound_filters, inbound_options

KEY, OTHER = (
    ec.derive_private_key(number, ec.SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for number in (7, 8)
)


def headers(lab, **changes):
    given = {"trace_id": lab.new_trace_id(), "span_id": "00f067aa0ba902b7", "key": KEY, "environment": "shop"}
    return probe_headers(**given | {"expires": time.time() + 30} | changes)


@pytest.fixture(scope="module")
def url(lab, tmp_path_factory):
    echo = f"127.0.0.1:{lab.servers['solo'][0].server_port}"
    inbound = Proxy("in", echo, inbound_filters({"cart-v1": "cart"}, "shop", public_key(KEY), "abc"), inbound_options())
    identity = {"ISTIO_META_WORKLOAD_NAME": "cart-v1", "POD_NAME": "cart-v1-x"}
    with run_proxies([inbound], tmp_path_factory.mktemp("probe"), environ=identity) as proxies:
        yield proxies.urls["in"]
        assert proxies.statistic("lua.errors") == 0


@pytest.mark.parametrize("content_type", ["text/plain", "application/grpc"])
def test_the_filter_says_who_it_is_and_of_which_version(lab, url, content_type):
    answer = lab.client.get(url + PROBE_PATH, headers=headers(lab) | {"content-type": content_type})
    assert answer.status_code == (204 if content_type == "text/plain" else 200)  # as gRPC has it
    assert answer.headers[PROBE_HEADER] == "cart/cart-v1-x/abc"


def test_the_service_sees_a_question_only_if_it_is_not_ours_to_answer(lab, url):
    others = [headers(lab, key=OTHER), headers(lab, environment="inn"), headers(lab, expires=time.time() - 1), {}]
    for each in others:
        answer = lab.client.get(url + PROBE_PATH, headers=each)
        assert PROBE_HEADER not in answer.headers
        assert answer.status_code == 200
    elsewhere = lab.client.get(url + "/cart", headers=headers(lab))
    assert elsewhere.status_code == 200
    assert PROBE_HEADER not in elsewhere.headers
