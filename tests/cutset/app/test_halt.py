"""With a real mesh that runs from its file. What halted runs do is in `tests/end_to_end/test_halt.py`."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cutset.store.test_active import ACTIVE

from cutset.app.halt import halt, lift
from cutset.app.mesh import run_mesh_file
from cutset.errors import HaltedError, TargetError
from cutset.guards.brake import Brake
from cutset.guards.halting import given_order
from cutset.inject.local.kill_switch import is_switched_off
from cutset.inject.local.mesh import Mesh
from cutset.process.whom import user_at_host
from cutset.store.active import injecting

MESH = "services:\n  web: {protocol: http, replicas: ['127.0.0.1:9']}\n"
ISTIO = """\
istio: {namespaces: [shop, pay], gateway: istio-ingress/ingress}
target: {environment: staging}
requests: [{path: /}]
"""


@pytest.fixture
def mesh(tmp_path: Path) -> Iterator[Mesh]:
    (tmp_path / "mesh.yaml").write_text(MESH)
    with run_mesh_file(tmp_path / "mesh.yaml", key=b"k" * 32) as running:
        yield running


def test_all_of_the_store_and_the_mesh_beside_the_configuration_are_halted_and_lifted(
    tmp_path: Path, mesh: Mesh
) -> None:
    store, config = tmp_path / "store", tmp_path / "cutset.yaml"
    brake = Brake(store)
    store.mkdir()
    with injecting(store, ACTIVE):
        done = halt(store, config, reason="enough")

    assert done.order == given_order(store)
    assert done.order is not None
    assert (done.order.by, done.order.reason) == (user_at_host(), "enough")
    assert (done.repeated, done.running, done.problems, done.elsewhere) == (False, (ACTIVE,), (), "")
    assert done.meshes == (mesh.admin_url,)
    assert is_switched_off(mesh.admin_url)
    with pytest.raises(HaltedError):
        brake.check()

    again = halt(store, config, reason="really")
    assert (again.order, again.repeated) == (done.order, True)

    lifted = lift(store, config)
    assert (lifted.order, lifted.meshes, lifted.problems) == (done.order, (mesh.admin_url,), ())
    assert not is_switched_off(mesh.admin_url)
    Brake(store).check()
    assert lift(store, config).order is None


def test_from_another_machine_a_mesh_is_switched_off_and_no_store_is_made(tmp_path: Path, mesh: Mesh) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    admins = (mesh.admin_url, "http://127.0.0.1:9")

    done = halt(elsewhere / ".cutset", elsewhere / "cutset.yaml", admins=admins)

    assert (done.order, done.meshes) == (None, (mesh.admin_url,))
    assert is_switched_off(mesh.admin_url)
    (problem,) = done.problems
    assert problem.startswith("The mesh at http://127.0.0.1:9 does not answer")
    assert list(elsewhere.iterdir()) == []
    assert lift(elsewhere / ".cutset", elsewhere / "cutset.yaml", admins=admins[:1]).meshes == (mesh.admin_url,)


def test_a_configuration_that_cannot_be_read_keeps_nobody_from_halting(tmp_path: Path) -> None:
    (tmp_path / "cutset.yaml").write_text("mesh: [")

    done = halt(tmp_path / "store", tmp_path / "cutset.yaml")

    assert given_order(tmp_path / "store") == done.order
    (problem,) = done.problems
    assert "does not tell which mesh is beside it" in problem


def test_what_runs_in_a_cluster_is_named_with_the_commands_that_end_it(tmp_path: Path) -> None:
    (tmp_path / "cutset.yaml").write_text(ISTIO)

    done = halt(tmp_path / "store", tmp_path / "cutset.yaml")

    assert "`kubectl delete job -n cutset cutset-explore-staging`" in done.elsewhere
    assert "`cutset uninstall -n shop -n pay`" in done.elsewhere


def test_where_the_order_cannot_be_put_down_that_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(TargetError, match="cannot be put down"):
        halt(tmp_path / "store", tmp_path / "cutset.yaml")
