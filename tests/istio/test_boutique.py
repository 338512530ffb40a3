"""The boutique in Istio: `cutset explore` finds there what it finds on the local mesh, which is the answer key."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster.processes import Place
from cluster.shops import GATEWAYS, gateway_url, wait_until_available
from tests.istio.conftest import Laboratory

import cutset_demo
from cluster import boutique as shop

FOLDER = Path(cutset_demo.__file__).parent
WEAKNESSES = yaml.safe_load((FOLDER / "WEAKNESSES.yaml").read_text())["requests"]
MINUTES = 8  # for one command: a machine of CI with two cores takes one or two


@dataclass(frozen=True, slots=True)
class Team:
    """Who runs the boutique: a folder with a cutset.yaml, keys of their own, and the command."""

    folder: Path

    def cutset(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cutset", *arguments]
        env = os.environ | {"XDG_CONFIG_HOME": str(self.folder / "config")}
        return subprocess.run(
            command, cwd=self.folder, env=env, capture_output=True, text=True, check=False, timeout=60 * MINUTES
        )

    def explore(self, *arguments: str) -> dict[str, Any]:
        """Exit code 1 says that something was found; all that was asked for must be known."""
        done = self.cutset("explore", *arguments, "--json")
        assert done.returncode == 1, f"{done.stdout}\n{done.stderr}"
        return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def team(laboratory: Laboratory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    place = Place(Path(os.environ["CLUSTER_BIN"]), laboratory.run)
    brought = laboratory.namespace != shop.NAMESPACE  # else the laboratory was brought up with it
    if brought:
        shop.start_stores(place)
        laboratory.api.apply(*shop.boutique())
    wait_until_available(place, laboratory.api)
    folder = tmp_path_factory.mktemp("team")
    content = {
        "target": {"url": gateway_url(place, laboratory.api, shop.NAMESPACE), "environment": shop.NAMESPACE},
        "istio": {"namespaces": [shop.NAMESPACE]},
        "requests": yaml.safe_load((FOLDER / "requests.yaml").read_text()),
    }
    (folder / "cutset.yaml").write_text(yaml.safe_dump(content))
    forwarded = {**content, "istio": {**content["istio"], "gateway": f"{GATEWAYS}/{shop.NAMESPACE}"}}
    forwarded["target"] = {"environment": shop.NAMESPACE}
    (folder / "forwarded.yaml").write_text(yaml.safe_dump(forwarded))
    team = Team(folder)
    installed = team.cutset("install", "--namespace", shop.NAMESPACE)
    assert installed.returncode == 0, installed.stderr
    yield team
    team.cutset("uninstall", "--namespace", shop.NAMESPACE)
    if brought:
        for path in (
            f"/api/v1/namespaces/{shop.NAMESPACE}",
            f"/apis/apps/v1/namespaces/{GATEWAYS}/deployments/boutique",
        ):
            laboratory.api.call("DELETE", path)
        shop.stop_stores()


def cuts_of(request: dict[str, Any]) -> set[frozenset[str]]:
    return {frozenset(fault.partition(":")[0] for fault in finding["cut"]) for finding in request["findings"]}


def test_finds_exactly_the_answer_key_of_every_request_class(team: Team) -> None:
    document = team.explore()
    assert document["complete"]
    found = {request["name"]: cuts_of(request) for request in document["requests"]}
    assert found == {name: {frozenset(cut) for cut in entry["cuts"]} for name, entry in WEAKNESSES.items()}

    finding = document["requests"][0]["findings"][0]
    replayed = team.cutset("explore", "--replay", finding["id"])
    assert replayed.returncode == 1
    assert replayed.stdout.startswith("x still fails  GET /")


def test_enters_by_a_port_forward_to_the_gateway_as_well(team: Team) -> None:
    document = team.explore("--config", "forwarded.yaml", "--request", "GET /cart")
    [cart] = document["requests"]
    assert cuts_of(cart) == {frozenset(cut) for cut in WEAKNESSES["GET /cart"]["cuts"]}


def test_finds_the_same_down_to_single_replicas(team: Team) -> None:
    document = team.explore("--points", "replica", "--request", "POST /cart", "--max-size", "2")
    [cart] = document["requests"]
    pairs = [{f"{api}#{replica}" for api in cut for replica in (1, 2)} for cut in WEAKNESSES["POST /cart"]["cuts"]]
    # Istio's retries look for another replica five times and then take the same once more: of those calls that a
    # request cannot do without, one replica that is down fails a share of requests, which may be seen or not.
    assert all(any(found <= pair for found in cuts_of(cart)) for pair in pairs)
    assert all(any(found <= pair for pair in pairs) for found in cuts_of(cart))


def test_nothing_was_restarted_and_nothing_rejected(team: Team, laboratory: Laboratory) -> None:
    for pod in laboratory.pods(shop.NAMESPACE):
        name, status = pod["metadata"]["name"], pod["status"]
        assert {each["restartCount"] for each in status["containerStatuses"] + status["initContainerStatuses"]} == {0}
        stats = laboratory.proxy(shop.NAMESPACE, name, "/stats?filter=update_rejected")
        assert {line for line in stats.splitlines() if not line.endswith(": 0")} == set()
