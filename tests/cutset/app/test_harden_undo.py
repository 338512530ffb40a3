"""Without a cluster: what is left of a hardening is told by its record, and a local file is put back."""

import asyncio
from pathlib import Path

import pytest
from tests.samples.simulated_hardening import MESH, HardenableLaboratory, followed, go_on, undertaking

from cutset.app.harden_undo import is_undone, left_by, put_right, undo
from cutset.errors import UsageError
from cutset.model.hardening import HardeningEvent, MeshChanged, MeshChanging, MeshRestored, ResourceChange
from cutset.model.run import Loop, RunFinished, RunStarted
from cutset.store.ledger import open_ledger
from cutset.store.runs import held_run

CHANGE = MeshChanging(resources=(ResourceChange("", "{}"),), added=("x",), kept=(), left_out=())
FAILED = MeshRestored(why="interrupted", interrupted=True, problem="the API server does not answer")
BACK = MeshRestored(why="interrupted", interrupted=True)


@pytest.mark.parametrize(
    ("events", "left"),
    [
        ([], None),
        ([CHANGE], CHANGE),
        ([CHANGE, MeshChanged()], CHANGE),
        ([CHANGE, MeshChanged(), BACK], None),
        ([CHANGE, MeshChanged(), FAILED], CHANGE),
        ([CHANGE, FAILED, BACK], None),
        ([CHANGE, BACK, MeshChanged()], CHANGE),
        ([CHANGE, MeshChanged(), RunFinished()], CHANGE),
        ([MeshChanging(added=(), kept=(), left_out=()), MeshChanged()], None),
    ],
)
def test_what_was_announced_is_left_until_it_was_taken_back_with_success(
    events: list[HardeningEvent], left: MeshChanging | None
) -> None:
    assert left_by(events) == left


def test_what_is_in_a_file_is_put_back_once(tmp_path: Path) -> None:
    with followed(tmp_path, []) as file:
        with open_ledger(tmp_path / "store") as ledger:
            ledger.append("only", RunStarted(loop=Loop.HARDENING, run="only"))
        events = go_on(tmp_path / "store", undertaking(file), HardenableLaboratory(file))
        (change,) = [event for event in events if isinstance(event, MeshChanging)]
        assert file.read_text() != MESH
        assert not is_undone(change, tmp_path / "store")
        done = asyncio.run(undo(tmp_path / "store"))
        assert (done.change, done.problem, file.read_text()) == (change, "", MESH)
        assert is_undone(change, tmp_path / "store")
        with pytest.raises(UsageError, match="there is nothing to undo"):
            asyncio.run(undo(tmp_path / "store"))


def test_what_is_in_a_file_is_not_touched_by_the_next_hardening_of_a_cluster(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.append("only", RunStarted(loop=Loop.HARDENING, run="only"))
        ledger.append("only", MeshChanging(file=tmp_path / "mesh.yaml", added=("x",), kept=(), left_out=()))
    assert asyncio.run(put_right(tmp_path)) == []


def test_a_hardening_that_still_runs_is_not_undone(tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        ledger.append("only", RunStarted(loop=Loop.HARDENING, run="only"))
        ledger.append("only", CHANGE)
        assert not is_undone(CHANGE, tmp_path)
        with held_run(ledger, "only"), pytest.raises(UsageError, match="is still running"):
            asyncio.run(undo(tmp_path))
