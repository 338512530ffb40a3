"""Checks: who has no plan is not traced, and who has tracing of their own keeps it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import httpx
from benchmarks.istio.ground import Ground, addresses, cutset, eventually, plan, private_key
from benchmarks.istio.hops import PORT, SERVER, hop_address
from benchmarks.istio.observed import proven
from benchmarks.istio.spans import asked_with_spans
from benchmarks.istio.traffic import Question, ask_all
from cluster.control_plane import named

from cluster import shops, tracing

TEAM = "team"


def set_up_team(at: Ground) -> None:
    """A namespace whose every request is traced by a Jaeger of the team's own."""
    lenient = {"mtls": {"mode": "PERMISSIVE"}}
    tracing.add_provider(at.api)
    at.api.apply(
        *tracing.jaeger(at.place.binaries),
        shops.namespace(TEAM),
        named("PeerAuthentication", "default", TEAM, "security.istio.io/v1", spec=lenient),
        tracing.everything_traced(TEAM),
        *shops.workload(TEAM, "echo", ["python", "-c", SERVER], PORT),
    )
    shops.wait_until_available(at.place, at.api)


def requests_without_a_plan_are_not_traced(at: Ground) -> None:
    sampled = {"traceparent": f"00-{'5' * 32}-{'6' * 16}-01"}
    questions = [partial(Question, sampled if number % 2 else {}) for number in range(20)]
    _, spans = asked_with_spans(at, at.gateway, questions, 0)
    assert not spans, spans


def requests_with_a_plan_are_traced_everywhere(at: Ground) -> None:
    _, spans = proven(at)
    services = sorted(str(span.attributes.get("cutset.service")) for span in spans)
    assert services == ["backend", "frontend", "quote"], services


def tracing_of_a_team_is_not_taken_away(at: Ground) -> None:
    told = cutset(at, "install", "-n", TEAM, expected=(1, 2))
    assert "--keep-tracing" in told.errors + told.output, told


def with_keep_tracing_their_jaeger_has_the_proof(at: Ground) -> None:
    with _kept_tracing(at):
        headers = plan(private_key(at, TEAM), "echo/GET /:abort(418)", environment=TEAM)
        (answer,) = asyncio.run(ask_all(hop_address(at, TEAM), [partial(Question, headers)], 1))
        assert answer.status == 418, answer
        trace = headers["traceparent"].split("-")[1]
        eventually("the trace in Jaeger", lambda: "cutset.fault" in _in_jaeger(at, trace))
        assert "abort(418)" in _in_jaeger(at, trace)


def and_their_jaeger_has_everybody_elses_traces_as_before(at: Ground) -> None:
    with _kept_tracing(at):
        trace = "9" * 31 + "a"
        headers = {"traceparent": f"00-{trace}-{'8' * 16}-01"}
        asyncio.run(ask_all(hop_address(at, TEAM), [partial(Question, headers)], 1))
        eventually("the trace in Jaeger", lambda: "echo" in _in_jaeger(at, trace))


@contextmanager
def _kept_tracing(at: Ground) -> Iterator[None]:
    cutset(at, "install", "-n", TEAM, "--keep-tracing")
    try:
        yield
    finally:
        cutset(at, "uninstall", "-n", TEAM)


def _in_jaeger(at: Ground, trace: str) -> str:
    (address, *_) = addresses(at, tracing.NAMESPACE, "app=jaeger")
    url = f"http://{address}:{tracing.PORTS['http-query']}/api/traces/{trace}"
    return httpx.get(url, trust_env=False).text


CHECKS = (
    requests_without_a_plan_are_not_traced,
    requests_with_a_plan_are_traced_everywhere,
    tracing_of_a_team_is_not_taken_away,
    with_keep_tracing_their_jaeger_has_the_proof,
    and_their_jaeger_has_everybody_elses_traces_as_before,
)
