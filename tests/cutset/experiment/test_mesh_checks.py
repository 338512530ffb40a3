from dataclasses import replace
from pathlib import Path

import pytest

from cutset.experiment.mesh_checks import MeshSituation, mesh_checks
from cutset.inject.local.change import RunningMesh
from cutset.model.checkup import CheckupLine, LineState
from cutset.model.mesh import MeshService, MeshSpec
from cutset.model.target import Receiver, Target

CART = MeshService("cart", "http", ("h:1", "h:2"))
SPEC = MeshSpec((CART,), entry="cart", collector="localhost:4317")
RUNNING = RunningMesh(1, seen="v1", ports={"cart": 8001}, edge_port=8000)
WELL = MeshSituation(Path("mesh.yaml"), SPEC, "v1", RUNNING)
TARGET = Target("http://127.0.0.1:8001")


def checked(found: MeshSituation, target: Target = TARGET) -> list[CheckupLine]:
    return mesh_checks(found, target, Receiver())


def test_a_mesh_that_runs_as_it_should_is_one_line() -> None:
    (check,) = checked(WELL)

    assert (check.name, check.state, check.text) == ("mesh", LineState.WELL, "runs from `mesh.yaml`")


def test_without_a_mesh_from_this_file_the_rest_of_it_says_nothing() -> None:
    (check,) = checked(replace(WELL, running=None, spec=replace(SPEC, environment="other")))

    assert (check.name, check.state, check.fatal) == ("mesh", LineState.WRONG, False)
    assert "`cutset mesh up mesh.yaml`" in check.remedy


@pytest.mark.parametrize(
    ("found", "target", "name", "text", "fatal"),
    [
        (replace(WELL, version="v2"), TARGET, "mesh", "has not taken over `mesh.yaml`", False),
        (replace(WELL, running=replace(RUNNING, problem="no")), TARGET, "mesh", "did not take over", False),
        (replace(WELL, running=replace(RUNNING, keyed=False)), TARGET, "key", "without a key", True),
        (replace(WELL, spec=replace(SPEC, environment="b")), TARGET, "environment", "the mesh runs as `b`", True),
        (replace(WELL, spec=replace(SPEC, collector="")), TARGET, "collector", "exports no spans", True),
        (replace(WELL, spec=replace(SPEC, collector="localhost:9")), TARGET, "collector", "to `localhost:9`", True),
        (WELL, Target("http://localhost:8000"), "entry", "the edge of the mesh, which drops all plans", True),
        (WELL, Target("http://localhost:8002"), "entry", "not in this mesh", True),
        (
            replace(WELL, spec=replace(SPEC, services=(replace(CART, timeout_seconds=2.5),))),
            TARGET,
            "timeouts",
            "gives up on calls to cart after 2.5 s",
            False,
        ),
        (
            replace(WELL, spec=replace(SPEC, services=(replace(CART, retries=2),))),
            TARGET,
            "retries",
            "retries calls, as its file says, to cart (2)",
            False,
        ),
    ],
)
def test_what_is_not_as_it_should_be_is_named_with_what_to_do(
    found: MeshSituation, target: Target, name: str, text: str, *, fatal: bool
) -> None:
    checks = [check for check in checked(found, target) if check.state is not LineState.WELL]

    assert [(check.name, check.fatal) for check in checks] == [(name, fatal)]
    assert text in checks[0].text
    assert checks[0].remedy


def test_a_system_elsewhere_is_not_held_against_ports_of_this_machine() -> None:
    assert [check.state for check in checked(WELL, Target("http://shop.test"))] == [LineState.WELL]
    elsewhere = replace(WELL, spec=replace(SPEC, collector="collector.test:9"))
    assert [check.state for check in checked(elsewhere)] == [LineState.WELL]
