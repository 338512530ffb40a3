"""`cutset harden --apply istio` on the small shop: what it puts into the cluster helps, harms nobody, and goes away.

Findings are those of single replicas: the shop's backend has two, and Istio asks no other by itself after a 503.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster.api import Resource
from cluster.control_plane import named
from tests.cutset.verify.test_cluster import OBSERVED, decision
from tests.istio.conftest import Laboratory, eventually

from cutset.inject.istio.discovery import discover
from cutset.kubernetes.client import connected
from cutset.verify.cluster import ClusterPlace, mesh_services

pytestmark = pytest.mark.usefixtures("laboratory")

ISTIO = "networking.istio.io/v1"
LOOK_AWAY = "/apis/networking.istio.io/v1alpha3/namespaces/shop/envoyfilters/cutset-shop-outliers"
KINDS = ("virtualservices", "destinationrules")
BETA = {"match": [{"headers": {"x-beta": {"exact": "1"}}}], "route": [{"destination": {"host": "backend"}}]}
REST = {"route": [{"destination": {"host": "backend"}}], "timeout": "9s"}
ROUTES = named("VirtualService", "theirs", "shop", ISTIO, spec={"hosts": ["backend"], "http": [BETA, REST]})
BALANCE = {"loadBalancer": {"simple": "ROUND_ROBIN"}}
POLICY = named("DestinationRule", "theirs", "shop", ISTIO, spec={"host": "backend", "trafficPolicy": BALANCE})
# Somebody's patch that makes calls fail which take our route, and only these.
PATCH = {
    "applyTo": "HTTP_ROUTE",
    "match": {
        "context": "SIDECAR_OUTBOUND",
        "routeConfiguration": {"vhost": {"route": {"name": "cutset-backend-get"}}},
    },
    "patch": {"operation": "MERGE", "value": {"request_headers_to_add": [{"header": {"key": "x-fail", "value": "1"}}]}},
}
SABOTAGE = named("EnvoyFilter", "sabotage", "shop", "networking.istio.io/v1alpha3", spec={"configPatches": [PATCH]})


@pytest.fixture(scope="module")
def explored(laboratory: Laboratory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a configuration and a campaign on the shop, in which Cutset is installed meanwhile."""
    folder = tmp_path_factory.mktemp("harden")
    (folder / "cutset.yaml").write_text(
        json.dumps(
            {
                "istio": {"namespaces": ["shop"]},
                "target": {"url": laboratory.gateway, "environment": "shop"},
                "points": "replica",
                "requests": [{"path": "/"}],
                "limits": {"max_size": 1},
            }
        )
    )
    assert cutset(folder, "install", "--namespace", "shop").returncode == 0
    found = cutset(folder, "explore")
    assert found.returncode == 1, found.stderr
    yield folder
    assert cutset(folder, "uninstall", "--namespace", "shop").returncode == 0


@pytest.fixture
def folder(explored: Path, tmp_path: Path, laboratory: Laboratory) -> Iterator[Path]:
    """The same with a ledger of the test's own; whatever it does, what it made is gone afterwards."""
    shutil.copytree(explored, tmp_path, dirs_exist_ok=True)
    yield tmp_path
    cutset(tmp_path, "harden", "--undo")  # nothing is there to undo, unless the test failed
    for resource in (ROUTES, POLICY, SABOTAGE):
        if laboratory.api.find(laboratory.api.address(resource)):
            laboratory.api.call("DELETE", laboratory.api.address(resource))
    assert resources(laboratory) == {}


def cutset(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cutset", *words]
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=300, check=False
    )


def environment() -> dict[str, str]:
    """Of a user whose key is nobody else's."""
    told = {"XDG_CONFIG_HOME": f"{os.environ['CLUSTER_RUN']}/harden", "COLUMNS": "200"}
    return {name: value for name, value in os.environ.items() if name != "CUTSET_KEY"} | told


def harden(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return cutset(folder, "harden", "--budget", "1", "--apply", "istio", *words)


def resources(laboratory: Laboratory) -> dict[str, Resource]:
    """All that decides about calls between sidecars, with who wrote it, without what changes by being written."""
    found = {}
    for kind in KINDS:
        for each in laboratory.api.get(f"/apis/{ISTIO}/namespaces/shop/{kind}")["items"]:
            if "gateways" not in each["spec"]:
                for name in ("resourceVersion", "generation"):
                    del each["metadata"][name]
                found[f"{kind}/{each['metadata']['name']}"] = each
    return found


def verdicts(document: dict[str, Any]) -> dict[str, str]:
    return {each["cut"][0].partition(":")[0]: each["verdict"] for each in document["verification"]["cuts"]}


def test_a_failing_replica_is_survived_once_another_is_asked_and_undone_nothing_is_left(
    folder: Path, laboratory: Laboratory
) -> None:
    done = harden(folder, "--verify", "--known-only", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    found = verdicts(document)
    assert {found["backend/GET /#1"], found["backend/GET /#2"]} <= {"survived", "degraded"}
    assert found["quote/Say#1"] == "failed"  # which nobody predicted to be gone
    assert document["verification"]["afvr"] == document["verification"]["afvr_expected"]
    assert (document["applied"]["state"], document["applied"]["health"]["ill"]) == ("applied", {})
    made = resources(laboratory)
    assert set(made) == {"virtualservices/cutset-backend", "destinationrules/cutset-backend"}
    assert all(each["metadata"]["labels"]["cutset.dev/part"] == "hardening" for each in made.values())
    assert laboratory.api.find(LOOK_AWAY)  # else failures that we inject would eject replicas, for all users
    assert document["applied"]["undo"] == "cutset harden --undo"
    undone = cutset(folder, "harden", "--undo")
    assert undone.returncode == 0, undone.stderr
    assert "VirtualService shop/cutset-backend: retries" in undone.stdout
    assert resources(laboratory) == {}
    assert laboratory.api.find(LOOK_AWAY) is None
    assert "nothing to undo" in cutset(folder, "harden", "--undo").stderr


def test_routes_and_policies_of_others_are_added_to_what_differs_is_named_and_all_of_it_comes_back(
    folder: Path, laboratory: Laboratory
) -> None:
    laboratory.api.apply(ROUTES, POLICY)
    before = resources(laboratory)
    done = harden(folder, "--verify", "--known-only", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["applied"]["kept"] == [
        'VirtualService shop/theirs: spec.http[1].timeout is "9s", and would be "1s"; written by laboratory'
    ]
    found = verdicts(document)
    assert {found["backend/GET /#1"], found["backend/GET /#2"]} <= {"survived", "degraded"}
    now = resources(laboratory)
    assert set(now) == set(before)
    http = now["virtualservices/theirs"]["spec"]["http"]
    assert [http[1], http[3]] == [BETA, REST]
    assert [each["retries"]["attempts"] for each in (http[0], http[2])] == [1, 1]
    policy = now["destinationrules/theirs"]["spec"]["trafficPolicy"]
    assert policy.items() >= BALANCE.items()
    assert cutset(folder, "harden", "--undo").returncode == 0
    assert resources(laboratory) == before


def test_what_makes_a_request_fail_is_taken_back_by_itself(folder: Path, laboratory: Laboratory) -> None:
    laboratory.api.apply(SABOTAGE)
    done = harden(folder)
    assert done.returncode == 1, done.stderr
    assert "Rolled back: what worked before does not: `GET /` 10 of 10 times: 502" in done.stdout
    assert "The mesh is as it was, and each request is answered as before" in done.stdout
    assert resources(laboratory) == {}
    assert laboratory.ask()[0] == 200


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_whoever_ends_it_in_the_middle_can_have_the_cluster_as_it_was(
    folder: Path, laboratory: Laboratory, how: signal.Signals
) -> None:
    laboratory.api.apply(ROUTES)
    before = resources(laboratory)
    command = [sys.executable, "-m", "cutset", "harden", "--budget", "1", "--apply", "istio", "--verify"]
    with subprocess.Popen(command, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        eventually(lambda: process.poll() is not None or resources(laboratory) != before)
        process.send_signal(how)
        _, errors = process.communicate(timeout=120)
    if how is signal.SIGINT:
        assert process.returncode == 130, errors
        assert "What was applied was rolled back, as by `cutset harden --undo`" in errors
    else:
        assert resources(laboratory) != before
        assert cutset(folder, "harden", "--undo").returncode == 0
    assert resources(laboratory) == before


def test_what_somebody_changes_meanwhile_is_never_overwritten(laboratory: Laboratory) -> None:
    laboratory.api.apply(ROUTES, POLICY)
    before = resources(laboratory)
    changed = {**ROUTES, "spec": {**ROUTES["spec"], "http": [REST]}}

    async def meanwhile() -> None:
        async with connected() as cluster:
            place = ClusterPlace(cluster, ("shop",), "shop")
            services = mesh_services(await discover(cluster, ("shop",)))
            prospect = await place.plan(decision(), services, OBSERVED)
            assert resources(laboratory) == before
            await place.put(prospect, prospect.change)
            await place.put(prospect, prospect.change)  # which changes nothing any more
            laboratory.api.apply(changed)
            problem = await place.take_back(prospect.change)
            assert problem == "VirtualService shop/theirs was changed by somebody since, so that it stays as it is now"

    asyncio.run(meanwhile())
    now = resources(laboratory)
    assert now["virtualservices/theirs"]["spec"] == changed["spec"]
    assert now["destinationrules/theirs"] == before["destinationrules/theirs"]
    for resource in (ROUTES, POLICY):
        laboratory.api.call("DELETE", laboratory.api.address(resource))
