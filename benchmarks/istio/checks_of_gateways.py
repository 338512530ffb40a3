"""Checks: at ingress gateways, of Istio's own and of the Gateway API, no plan comes in but ours."""

import asyncio
import json
from collections.abc import Mapping
from functools import partial

from benchmarks.istio.ground import SHOP, Ground, addresses, cutset, eventually, plan, private_key
from benchmarks.istio.hops import WITH
from benchmarks.istio.observed import ask, planned, seen_by_services
from benchmarks.istio.traffic import Answer, Question, ask_all

from cluster import shops
from cutset.inject.ecdsa import new_private_key

INSTALL = ("install", "-n", SHOP, "-n", WITH)


def a_strangers_plan_does_not_pass_the_gateway(at: Ground) -> None:
    headers = plan(new_private_key(), "backend/GET /")
    value = headers["tracestate"].partition("=")[2]
    answer = ask(at, {**headers, "uberctx-cutset": value, "x-datadog-tags": f"_dd.p.cutset={value}"})
    assert answer.status == 200, answer
    seen = json.dumps(list(seen_by_services(answer))).lower()
    assert "cutset" not in seen, seen


def what_others_carry_passes_the_gateway(at: Ground) -> None:
    trace = f"00-{'3' * 32}-{'4' * 16}-01"
    answer = ask(at, {"traceparent": trace, "tracestate": "vendor=1", "baggage": "user=7,shop=blue"})
    entry = {name.lower(): text for name, text in next(seen_by_services(answer)).items()}
    assert (entry.get("tracestate"), entry.get("baggage")) == ("vendor=1", "user=7,shop=blue"), entry
    assert "3" * 32 in entry["traceparent"], entry


def nobody_outside_can_ask_the_fault_filter(at: Ground) -> None:
    asked = {"x-envoy-fault-abort-request": "418", "x-envoy-fault-abort-request-percentage": "100"}
    answer = ask(at, {"x-cutset-gate": "1", **asked})
    assert answer.status == 200, answer
    assert not [name for headers in seen_by_services(answer) for name in headers if "x-cutset" in name.lower()]


def a_gateway_of_the_gateway_api_is_guarded_alike(at: Ground) -> None:
    resources = shops.kubernetes_gateway(SHOP, "frontend", 8080)
    at.api.apply(*resources)
    try:
        label = "gateway.networking.k8s.io/gateway-name=kubernetes"
        eventually("a pod of that gateway", lambda: addresses(at, SHOP, label))
        address = (addresses(at, SHOP, label)[0], 80)
        eventually("its route", lambda: _through(address, {}).status == 200)
        cutset(at, *INSTALL)  # it was not there before
        good = _through(address, plan(private_key(at), "frontend/GET /:abort(418)"))
        assert good.status == 418, good
        foreign = _through(address, plan(new_private_key(), "frontend/GET /:abort(418)"))
        assert foreign.status == 200, foreign
        seen = json.dumps(list(seen_by_services(foreign))).lower()
        assert "cutset" not in seen, seen
    finally:
        for resource in reversed(resources):
            at.api.call("DELETE", at.api.address(resource))
        eventually("its end", lambda: not addresses(at, SHOP, label))


def with_strip_all_not_even_ours_comes_in(at: Ground) -> None:
    cutset(at, *INSTALL, "--strip-all")
    try:
        answer = planned(at, "frontend/GET /:abort(418)")
        assert answer.status == 200, answer
        assert "cutset" not in json.dumps(list(seen_by_services(answer))).lower(), answer
    finally:
        cutset(at, *INSTALL)
    assert planned(at, "frontend/GET /:abort(418)").status == 418


def _through(address: tuple[str, int], headers: Mapping[str, str]) -> Answer:
    return asyncio.run(ask_all(address, [partial(Question, headers)], 1))[0]


CHECKS = (
    a_strangers_plan_does_not_pass_the_gateway,
    what_others_carry_passes_the_gateway,
    nobody_outside_can_ask_the_fault_filter,
    a_gateway_of_the_gateway_api_is_guarded_alike,
    with_strip_all_not_even_ours_comes_in,
)
