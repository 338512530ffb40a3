import os
import signal
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cutset.errors import TargetError
from cutset.store.active import FOLDER, ActiveInjection, active_injections, injecting

ACTIVE = ActiveInjection("run-1", "impact", "shop", "anna@laptop", os.getpid(), 10.0, "payment/Charge, 5 %", 20.0)


def test_it_is_told_while_it_lasts(tmp_path: Path) -> None:
    assert active_injections(tmp_path) == []
    with injecting(tmp_path, ACTIVE), injecting(tmp_path, replace(ACTIVE, run="run-0", since=5.0)):
        assert active_injections(tmp_path) == [replace(ACTIVE, run="run-0", since=5.0), ACTIVE]
        (file, _) = sorted((tmp_path / FOLDER).iterdir(), reverse=True)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert active_injections(tmp_path) == []
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_changes_are_told_too(tmp_path: Path) -> None:
    with injecting(tmp_path, ACTIVE) as tell:
        tell(replace(ACTIVE, what="payment/Charge, 10 %"))
        assert active_injections(tmp_path) == [replace(ACTIVE, what="payment/Charge, 10 %")]
        tell(replace(ACTIVE, what="payment/Charge, 20 %"))
        assert active_injections(tmp_path) == [replace(ACTIVE, what="payment/Charge, 20 %")]
    assert active_injections(tmp_path) == []


def test_what_a_killed_process_was_doing_is_not_being_done(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from cutset.store.active import *\n"
        "with injecting(Path(sys.argv[1]), ActiveInjection('run-2', 'drill', 'drill', 'b', 1, 1.0, 'x')):\n"
        "    print('ready', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == b"ready\n"
    assert [each.run for each in active_injections(tmp_path)] == ["run-2"]

    process.send_signal(signal.SIGKILL)
    process.communicate()

    assert (tmp_path / FOLDER / "run-2.json").exists()
    assert active_injections(tmp_path) == []
    assert not (tmp_path / FOLDER / "run-2.json").exists()


def test_a_file_of_somebody_else_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "strange.json").write_text("?")
    assert active_injections(tmp_path) == []


def test_where_nothing_can_be_told_nothing_is_begun(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("a file")
    with pytest.raises(TargetError, match="cannot be written to"), injecting(tmp_path, ACTIVE):
        pytest.fail("it began")
