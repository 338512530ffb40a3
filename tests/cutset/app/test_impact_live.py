"""What must be there before live requests are marked; that they are is in `tests/end_to_end`."""

from dataclasses import replace
from pathlib import Path

import pytest

from cutset.app.impact_live import markable_mesh, users_told_apart
from cutset.errors import CutsetError, TargetError, UsageError
from cutset.experiment.mesh_checks import MeshSituation
from cutset.inject.local.change import RunningMesh
from cutset.model.impact import UserKey
from cutset.model.mesh import MeshSpec

RUNNING = RunningMesh(1, edge_port=8080, admin_url="http://127.0.0.1:9901", marking="127.0.0.1:9902")
SITUATION = MeshSituation(Path("mesh.yaml"), MeshSpec((), entry="web"), "1", RUNNING)


def test_a_mesh_whose_edge_asks_will_do() -> None:
    assert markable_mesh(SITUATION) is RUNNING


@pytest.mark.parametrize(
    ("situation", "kind", "message"),
    [
        (None, UsageError, "there is no file of one beside the configuration"),
        (replace(SITUATION, running=None), TargetError, "No mesh runs from `mesh.yaml`"),
        (replace(SITUATION, running=replace(RUNNING, edge_port=0)), UsageError, "has no edge"),
        (replace(SITUATION, running=replace(RUNNING, marking="")), TargetError, "an older version of Cutset"),
    ],
)
def test_others_are_refused_with_what_to_do(
    situation: MeshSituation | None, kind: type[CutsetError], message: str
) -> None:
    with pytest.raises(kind, match=message) as caught:
        markable_mesh(situation)
    assert caught.value.hint


def test_users_are_told_apart_as_the_mesh_does_unless_something_else_is_asked_for() -> None:
    by_cookie = replace(SITUATION, spec=replace(SITUATION.spec, users=UserKey(cookie="session")))
    assert users_told_apart(UserKey(), by_cookie) == (UserKey(cookie="session"), "")
    assert users_told_apart(UserKey(cookie="session"), by_cookie) == (UserKey(cookie="session"), "")
    assert users_told_apart(UserKey(), None) == (UserKey(), "")
    user, note = users_told_apart(UserKey(header="x-user"), by_cookie)
    assert user == UserKey(header="x-user")
    assert "only a part of their requests is marked" in note
    user, note = users_told_apart(UserKey(header="x-user"), None, at_gateway=True)
    assert "gateways of Istio choose requests, not users" in note
