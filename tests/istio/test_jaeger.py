"""Traces from a team's own Jaeger: the same cuts as with our collector, by the same proof."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cluster.processes import Place
from tests.istio.commands import configured, cuts_of, cutset, installed
from tests.istio.conftest import Laboratory

from cluster import shops, tracing

CUTS = {("backend/GET /",), ("quote/Say",)}


@pytest.fixture(scope="module")
def jaeger(laboratory: Laboratory) -> str:
    """The address of its query service."""
    place = Place(Path(os.environ["CLUSTER_BIN"]), laboratory.run)
    tracing.add_provider(laboratory.api)
    laboratory.api.apply(*tracing.jaeger(place.binaries))
    shops.wait_until_available(place, laboratory.api)
    (pod,) = laboratory.pods(tracing.NAMESPACE, "app=jaeger")
    return f"http://{pod['status']['podIP']}:{tracing.PORTS['http-query']}"


@contextmanager
def traced_there(laboratory: Laboratory, namespace: str) -> Iterator[None]:
    """All requests of that namespace, by the team itself."""
    telemetry = tracing.everything_traced(namespace)
    laboratory.api.apply(telemetry)
    try:
        yield
    finally:
        laboratory.api.call("DELETE", laboratory.api.address(telemetry))


def test_every_cut_is_found_by_traces_of_the_teams_own_jaeger(
    laboratory: Laboratory, jaeger: str, tmp_path: Path
) -> None:
    configured(tmp_path, laboratory, collector={"jaeger": jaeger, "export_interval": 6})
    with traced_there(laboratory, laboratory.namespace), installed(laboratory, tmp_path, "--keep-tracing"):
        found = cutset(tmp_path, "explore", "--json")
        assert found.returncode == 1, found.stderr
        report = json.loads(found.stdout)
        assert (cuts_of(report), report["complete"]) == (CUTS, True)


@pytest.mark.usefixtures("jaeger")
def test_a_gateway_whose_spans_go_elsewhere_does_not_hide_the_request_itself(
    laboratory: Laboratory, tmp_path: Path
) -> None:
    configured(tmp_path, laboratory)
    with traced_there(laboratory, shops.GATEWAYS), installed(laboratory, tmp_path):
        found = cutset(tmp_path, "explore", "--json")
        assert found.returncode == 1, found.stderr
        assert cuts_of(json.loads(found.stdout)) == CUTS
