"""`cutset explore` on the small shop, from a laptop and as a Job in the cluster: the same cuts, and nothing is left."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.istio.commands import configured, cuts_of, cutset, installed
from tests.istio.conftest import Laboratory, eventually

CUTS = {("backend/GET /",), ("quote/Say",)}


@pytest.fixture(scope="module")
def folder(laboratory: Laboratory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("explore")
    configured(folder, laboratory)
    with installed(laboratory, folder):
        yield folder


def leftovers(laboratory: Laboratory) -> list[str]:
    """What a Job of ours has left behind, in our namespace and in that of the shop."""
    kinds = {
        "/apis/batch/v1/namespaces/cutset/jobs": "Job",
        "/api/v1/namespaces/cutset/secrets": "Secret",
        "/api/v1/namespaces/cutset/serviceaccounts": "ServiceAccount",
        "/apis/rbac.authorization.k8s.io/v1/roles": "Role",
        "/apis/rbac.authorization.k8s.io/v1/rolebindings": "RoleBinding",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles": "ClusterRole",
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings": "ClusterRoleBinding",
    }
    return [
        f"{kind} {each['metadata']['name']}"
        for path, kind in kinds.items()
        for each in laboratory.api.get(path)["items"]
        if each["metadata"]["name"].startswith("cutset-explore")
    ]


def test_from_a_laptop_every_cut_is_found_and_each_can_be_tried_again(folder: Path) -> None:
    found = cutset(folder, "explore", "--json")
    assert found.returncode == 1, found.stderr
    report = json.loads(found.stdout)
    assert (cuts_of(report), report["complete"]) == (CUTS, True)

    again = cutset(folder, "explore", "--replay", report["requests"][0]["findings"][0]["id"])
    assert again.returncode == 1, again.stderr
    assert "still fails" in again.stdout


def test_replicas_are_numbers_whatever_their_pods_are_called(folder: Path) -> None:
    found = cutset(folder, "explore", "--json", "--points", "replica", "--max-size", "1")
    assert found.returncode == 1, found.stderr
    # Istio does not ask another replica after a 503 of HTTP by itself.
    assert cuts_of(json.loads(found.stdout)) == {("backend/GET /#1",), ("backend/GET /#2",), ("quote/Say#1",)}


def test_a_job_in_the_cluster_finds_the_same_and_leaves_nothing(folder: Path, laboratory: Laboratory) -> None:
    found = cutset(folder, "explore", "--in-cluster", "--json")
    assert found.returncode == 1, found.stderr
    assert cuts_of(json.loads(found.stdout)) == CUTS
    assert cutset(folder, "check").returncode == 0
    eventually(lambda: not leftovers(laboratory))


def test_who_leaves_a_job_fetches_what_it_found_later(folder: Path, laboratory: Laboratory) -> None:
    following = subprocess.Popen(
        ["cutset", "explore", "--in-cluster"],
        cwd=folder,
        env=os.environ | {"XDG_CONFIG_HOME": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert following.stderr is not None
    assert "goes on" in following.stderr.readline()
    following.send_signal(signal.SIGINT)
    following.communicate(timeout=60)
    assert "Job cutset-explore-shop" in leftovers(laboratory)

    found = cutset(folder, "explore", "--in-cluster", "--attach", "--json")
    assert found.returncode == 1, found.stderr
    assert cuts_of(json.loads(found.stdout)) == CUTS
    eventually(lambda: not leftovers(laboratory))
