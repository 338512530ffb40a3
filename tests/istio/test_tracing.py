"""A team's own Jaeger in the laboratory gets what their Telemetry sends to it."""

import os
import secrets
from pathlib import Path

import httpx
from cluster.processes import Place
from tests.istio.conftest import Laboratory, eventually

from cluster import shops, tracing


def test_a_request_is_traced_by_the_teams_own_jaeger(laboratory: Laboratory) -> None:
    place = Place(Path(os.environ["CLUSTER_BIN"]), laboratory.run)
    tracing.add_provider(laboratory.api)
    telemetry = tracing.everything_traced(laboratory.namespace)
    laboratory.api.apply(*tracing.jaeger(place.binaries), telemetry)
    try:
        shops.wait_until_available(place, laboratory.api)
        (pod,) = laboratory.pods(tracing.NAMESPACE, "app=jaeger")
        query = f"http://{pod['status']['podIP']}:{tracing.PORTS['http-query']}/api/traces"

        def traced() -> bool:
            trace = secrets.token_hex(16)
            laboratory.ask(headers={"traceparent": f"00-{trace}-{secrets.token_hex(8)}-01"})
            found = httpx.get(f"{query}/{trace}", trust_env=False).text
            return "frontend" in found

        eventually(traced)
    finally:
        laboratory.api.call("DELETE", laboratory.api.address(telemetry))
