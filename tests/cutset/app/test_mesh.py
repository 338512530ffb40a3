"""A mesh that follows its file; Envoy itself is in `inject/test_stand_in.py`."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cutset.app.mesh import following
from cutset.errors import TargetError
from cutset.inject.local.change import change_running_mesh, running_mesh
from cutset.inject.local.mesh import Mesh
from cutset.model.mesh import MeshSpec

MESH = "services:\n  web: {protocol: http, replicas: ['h:1']}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mesh.yaml").write_text(MESH)
    return tmp_path / "mesh.yaml"


def mesh(reload: Callable[[MeshSpec], None]) -> Mesh:
    return Mesh(MeshSpec(()), {}, "", "", "", reload)


def test_who_changes_the_file_waits_until_the_mesh_has_taken_it(file: Path) -> None:
    taken: list[MeshSpec] = []
    changed = MESH.replace("http,", "http, retries: 3,")
    with following(file, mesh(taken.append)):
        change_running_mesh(file, changed)
        assert [spec.services[0].retries for spec in taken] == [3]
        change_running_mesh(file, changed.replace("3", "4"))
        assert [spec.services[0].retries for spec in taken] == [3, 4]


def test_who_marks_learns_where_the_edge_asks(file: Path) -> None:
    running = replace(mesh(lambda _: None), marking="127.0.0.1:7", admin_url="http://127.0.0.1:8")
    with following(file, running):
        told = running_mesh(file)
        assert told is not None
        assert (told.marking, told.admin_url) == ("127.0.0.1:7", "http://127.0.0.1:8")


@pytest.mark.parametrize(
    ("text", "problem"),
    [("services: {}\n", "expected at least one service"), (MESH + "entry: web\n", "not with me")],
)
def test_what_the_mesh_does_not_take_is_undone(file: Path, text: str, problem: str) -> None:
    def refuse(_spec: MeshSpec) -> None:
        raise TargetError("not with me")

    with following(file, mesh(refuse)), pytest.raises(TargetError, match=problem):
        change_running_mesh(file, text)
    assert file.read_text() == MESH


def test_a_change_that_is_not_about_the_mesh_does_not_disturb_it(file: Path) -> None:
    taken: list[MeshSpec] = []
    with following(file, mesh(taken.append)):
        change_running_mesh(file, "# a comment\n" + MESH)
    assert taken == []
