"""What is looked at is tested in tests/cutset/inject/istio/test_status.py."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cutset.app.test_halt import MESH
from tests.cutset.store.test_active import ACTIVE
from tests.cutset.store.test_audit import ENTRY
from tests.samples.cluster_resources import shop
from tests.samples.small_api_server import small_api_server, with_istio

from cutset.app.mesh import run_mesh_file
from cutset.app.status import ActiveRun, installed_status, is_cluster_known, local_status
from cutset.errors import UsageError
from cutset.guards.halting import HaltOrder, give_order
from cutset.inject.local.kill_switch import switch_off
from cutset.store.active import injecting
from cutset.store.audit import AuditLog


def test_it_is_asked_of_the_cluster_of_the_kubeconfig(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_api_server(tmp_path) as (server, kubeconfig):
        with_istio(server, shop())
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        assert asyncio.run(installed_status()).environments == ()
        with pytest.raises(UsageError, match="elsewhere"):
            asyncio.run(installed_status(context="elsewhere"))


def test_a_cluster_is_known_by_a_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    assert not is_cluster_known()
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").touch()
    assert is_cluster_known()
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert not is_cluster_known()


def test_what_is_local_is_the_order_the_runs_and_the_switch_of_the_mesh(tmp_path: Path) -> None:
    (tmp_path / "mesh.yaml").write_text(MESH)
    store, config = tmp_path / "store", tmp_path / "cutset.yaml"
    order, last = HaltOrder("anna@laptop", 1.0, "enough"), replace(ENTRY, run=ACTIVE.run)
    give_order(store, order)
    AuditLog(store).write(last)

    with injecting(store, ACTIVE), run_mesh_file(tmp_path / "mesh.yaml", key=b"k" * 32) as mesh:
        before = local_status(store, config)
        switch_off(mesh.admin_url)
        after = local_status(store, config)

    assert (before.halted, before.running, before.mesh_off) == (order, (ActiveRun(ACTIVE, last),), False)
    assert after.mesh_off
