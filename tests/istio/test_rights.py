"""The roles that `cutset install --print-role` writes are enough for all that a user does from outside, and no more."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from benchmarks.istio.breakage import Breakage, account_kubeconfig
from tests.istio.commands import configured, cuts_of, cutset
from tests.istio.conftest import Laboratory, eventually
from tests.istio.marked_users import marking

from cutset.kubernetes.client import connected
from cutset.model.impact import ImpactWindow

ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": "default"}}
NAMESPACE = "/api/v1/namespaces/cutset"


@pytest.fixture
def robot(laboratory: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which `cutset` is run by an account that has these roles and nothing else."""
    eventually(lambda: laboratory.api.find(NAMESPACE) is None)  # that of another test ends
    printed = cutset(tmp_path, "install", "-n", laboratory.namespace, "--print-role", "--role-for", "default/robot")
    assert printed.returncode == 0, printed.stderr
    with Breakage(laboratory.api, laboratory.namespace) as given:
        given.apply(ACCOUNT, *yaml.safe_load_all(printed.stdout))
        monkeypatch.setenv("KUBECONFIG", str(account_kubeconfig(laboratory.api, "default", "robot")))
        yield tmp_path


def test_who_has_exactly_these_roles_can_do_everything_and_leaves_nothing(laboratory: Laboratory, robot: Path) -> None:
    namespace = laboratory.namespace
    configured(robot, laboratory)
    before = cutset(robot, "doctor", "-n", namespace, "--json")
    assert before.returncode == 0, before.stdout + before.stderr
    done = cutset(robot, "install", "-n", namespace, "--marking")
    assert done.returncode == 0, done.stdout + done.stderr
    try:
        status = cutset(robot, "status", "--json")
        assert status.returncode == 0, status.stdout + status.stderr
        well = cutset(robot, "doctor", "--json")
        assert well.returncode == 0, well.stdout + well.stderr
        names = {each["name"] for each in json.loads(well.stdout)["checks"] if each["state"] == "well"}
        assert names >= {"istio", "rights", "namespaces", "gateway", "install", "plans", "spans", "answers"}
        found = cutset(robot, "explore", "--json")
        assert found.returncode == 1, found.stderr
        assert cuts_of(json.loads(found.stdout)) == {("backend/GET /",), ("quote/Say",)}
        asyncio.run(mark_nobody(laboratory, robot))
    finally:
        removed = cutset(robot, "uninstall", "-n", namespace)
    assert removed.returncode == 0, removed.stdout + removed.stderr
    assert not laboratory.api.get("/apis/apps/v1/namespaces/cutset/deployments")["items"]
    assert "cutset" not in laboratory.api.get("/api/v1/namespaces/istio-system/configmaps/istio")["data"]["mesh"]
    assert laboratory.api.find(NAMESPACE)  # the administrator's, with the roles in it: the next time works as well


async def mark_nobody(laboratory: Laboratory, folder: Path) -> None:
    eventually(lambda: laboratory.pods("cutset", "app=cutset-marker-shop"))
    async with marking(folder, "backend/GET /") as traffic:  # the gateway asks about a request of ours
        await traffic.start(ImpactWindow.BEFORE, 0.01)
        await traffic.stop()


@pytest.mark.usefixtures("robot")
def test_none_of_them_lets_anybody_run_commands_in_pods_or_read_secrets(laboratory: Laboratory) -> None:
    async def asked() -> list[bool]:
        async with connected() as cluster:
            spaces = (laboratory.namespace, "cutset", "istio-ingress", "istio-system", "default", "")
            return [
                await cluster.may(verb, kind, space, part)
                for space in spaces
                for verb, kind, part in (
                    ("create", "Pod", "exec"),
                    ("get", "Pod", "exec"),
                    ("create", "Pod", "attach"),
                    ("get", "Secret", ""),
                    ("list", "Secret", ""),
                    ("create", "Secret", ""),
                    ("create", "RoleBinding", ""),
                    ("delete", "Pod", ""),
                    ("patch", "Deployment", "") if space != "cutset" else ("delete", "Pod", ""),
                )
            ]

    assert not any(asyncio.run(asked()))
