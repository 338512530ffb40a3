"""Checks: with retries and outlier detection of Istio, faults are what they are elsewhere, and nobody else suffers."""

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.istio.ground import SHOP, Ground, cutset, eventually, plan, private_key
from benchmarks.istio.hops import WITH
from benchmarks.istio.observed import ask, ask_many, asked_sidecar, attempts, ejected, proven, sidecars
from cluster.api import Resource
from cluster.control_plane import named

ISTIO = "networking.istio.io/v1"
HOST = f"backend.{SHOP}.svc.cluster.local"
INSTALL = ("install", "-n", SHOP, "-n", WITH)


def retries_of_a_virtual_service_are_all_injected(at: Ground) -> None:
    with _applied(at, _retries(), '"num_retries": 3', "/config_dump?resource=dynamic_route_configs"):
        answer, spans = proven(at, "backend/GET /:abort(503)", least=6)
        assert answer.status == 502, answer
        assert attempts(spans, "backend") == ["1", "2", "3", "4"], spans


def a_failing_replica_is_survived_by_a_retry_elsewhere(at: Ground) -> None:
    replica = next(name for _, name in sidecars(at) if name.startswith("backend"))
    with _applied(at, _retries(), '"num_retries": 3', "/config_dump?resource=dynamic_route_configs"):
        key = private_key(at)
        answers = ask_many(at, [plan(key, f"backend/GET /#{replica}:abort(503)") for _ in range(8)])
        assert [answer.status for answer in answers] == [200] * 8, answers


def injected_failures_eject_no_replica_and_real_ones_do(at: Ground) -> None:
    where = "/config_dump?resource=dynamic_active_clusters"
    with _applied(at, _outlier_detection(), '"base_ejection_time": "5s"', where):
        cutset(at, *INSTALL)  # the rule was not there before
        key = private_key(at)
        answers = ask_many(at, [plan(key, "backend/GET /:abort(500)") for _ in range(12)])
        assert {answer.status for answer in answers} == {502}, answers
        assert ejected(at) == 0, "injected failures ejected a replica"
        for _ in range(12):
            ask(at, path="/fail")
        assert ejected(at) > 0, "real failures ejected nobody"
    cutset(at, *INSTALL)
    eventually("replicas to be asked again", lambda: ejected(at) == 0)
    eventually("the shop to work", lambda: [ask(at).status for _ in range(6)] == [200] * 6)


def _retries() -> Resource:
    route = {"destination": {"host": HOST, "port": {"number": 8080}}}
    http = {"route": [route], "retries": {"attempts": 3, "perTryTimeout": "5s", "retryOn": "5xx"}}
    return named("VirtualService", "backend", SHOP, ISTIO, spec={"hosts": [HOST], "http": [http]})


def _outlier_detection() -> Resource:
    detection = {
        "consecutive5xxErrors": 3, "interval": "1s", "baseEjectionTime": "5s", "maxEjectionPercent": 100,
        "minHealthPercent": 0,
    }  # fmt: skip
    policy = {"outlierDetection": detection}
    return named("DestinationRule", "backend", SHOP, ISTIO, spec={"host": HOST, "trafficPolicy": policy})


@contextmanager
def _applied(at: Ground, resource: Resource, sign: str, where: str) -> Iterator[None]:
    """Until the entry's sidecar has it; and until it has not any more."""
    (entry,) = [pod for pod in sidecars(at) if pod[1].startswith("frontend")]
    at.api.apply(resource)
    try:
        eventually("the sidecar to know", lambda: sign in asked_sidecar(entry, where))
        yield
    finally:
        at.api.call("DELETE", at.api.address(resource))
        eventually("the sidecar to forget", lambda: sign not in asked_sidecar(entry, where))


CHECKS = (
    retries_of_a_virtual_service_are_all_injected,
    a_failing_replica_is_survived_by_a_retry_elsewhere,
    injected_failures_eject_no_replica_and_real_ones_do,
)
