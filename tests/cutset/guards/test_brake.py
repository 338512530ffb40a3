import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cutset.errors import HaltedError
from cutset.guards.brake import Brake
from cutset.guards.halting import NAME, HaltOrder, give_order, lift_order


def test_nothing_is_pulled_at_first_and_where_there_is_no_store(tmp_path: Path) -> None:
    assert Brake(tmp_path).pulled is None
    assert Brake(tmp_path / "none").pulled is None
    Brake(tmp_path).check()


def test_a_guard_ends_its_own_run_and_the_first_one_is_named(tmp_path: Path) -> None:
    brake, other = Brake(tmp_path, clock=lambda: 1_763_000_000.0), Brake(tmp_path)
    brake.pull("error-rate", "7 of 20 failed")
    brake.pull("latency", "slow, too")

    assert brake.pulled is not None
    assert (brake.pulled.guard, brake.pulled.reason, brake.pulled.at) == (
        "error-rate",
        "7 of 20 failed",
        1_763_000_000.0,
    )
    assert other.pulled is None
    with pytest.raises(HaltedError, match="The guard `error-rate` ended injection: 7 of 20 failed") as halted:
        brake.check()
    assert halted.value.exit_code == 4
    assert "`--resume`" in halted.value.hint


def test_an_order_of_another_process_ends_all_runs_of_the_store(tmp_path: Path) -> None:
    brakes = [Brake(tmp_path), Brake(tmp_path)]
    assert [brake.pulled for brake in brakes] == [None, None]
    order = "HaltOrder('anna@laptop', 1.0, 'enough')"
    script = (
        f"from cutset.guards.halting import *; from pathlib import Path; give_order(Path({str(tmp_path)!r}), {order})"
    )

    subprocess.run([sys.executable, "-c", script], check=True)

    for brake in brakes:
        with pytest.raises(HaltedError, match="Nothing is injected: halted by anna@laptop, “enough”") as halted:
            brake.check()
        assert f"`cutset halt --lift --store {tmp_path}`" in halted.value.hint


def test_what_was_halted_stays_so_and_what_begins_after_lifting_is_free(tmp_path: Path) -> None:
    brake = Brake(tmp_path)
    give_order(tmp_path, HaltOrder("anna@laptop"))
    assert brake.pulled is not None

    lift_order(tmp_path)

    assert brake.pulled is not None
    assert Brake(tmp_path).pulled is None


def test_a_file_made_by_hand_is_an_order(tmp_path: Path) -> None:
    (tmp_path / NAME).touch()

    with pytest.raises(HaltedError, match="halted by somebody"):
        Brake(tmp_path).check()


def test_an_order_that_cannot_be_looked_at_may_be_one(tmp_path: Path) -> None:
    loop = tmp_path / "store"
    loop.symlink_to(loop)  # ELOOP, for whoever follows it

    assert Brake(loop).pulled is not None


def test_a_store_that_is_gone_holds_no_order(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    brake = Brake(store)
    shutil.rmtree(store)

    assert brake.pulled is None  # the audit log notices
