"""What the record says of the mesh; applying and taking back are in `test_run.py`."""

from pathlib import Path

from cutset.model.hardening import HardeningEvent, MeshChanged, MeshChanging, MeshRestored
from cutset.verify.apply import change_in_force, was_taken_back

FILE, KEPT = Path("mesh.yaml"), Path("mesh.yaml.before")
CHANGE = MeshChanging(file=FILE, original=KEPT, added=("cart.retries: 1",), kept=(), left_out=())
NOTHING = MeshChanging(file=FILE, original=KEPT, added=(), kept=(), left_out=())
BACK = MeshRestored(why="interrupted", interrupted=True)


def test_a_change_is_in_force_from_its_announcement_until_it_is_taken_back() -> None:
    events: list[HardeningEvent] = []
    assert change_in_force(events) is None
    events = [CHANGE]
    assert change_in_force(events) == CHANGE
    events += [MeshChanged()]
    assert change_in_force(events) == CHANGE
    events += [BACK]
    assert (change_in_force(events), was_taken_back(events)) == (None, True)
    events += [MeshChanged()]
    assert (change_in_force(events), was_taken_back(events)) == (CHANGE, False)


def test_where_nothing_was_added_nothing_is_in_force() -> None:
    assert change_in_force([NOTHING, MeshChanged()]) is None
