"""Changing a file that a mesh follows; a mesh that really does is in `app/test_mesh.py`."""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from cutset.errors import TargetError, UsageError
from cutset.inject.local import change
from cutset.inject.local.change import (
    RunningMesh,
    applied_file,
    change_running_mesh,
    kept_as,
    put,
    require_changeable,
    restore_running_mesh,
    running_mesh,
    tell_applied,
    version_of,
)

US = RunningMesh(os.getpid())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mesh.yaml").write_text("first")
    return tmp_path / "mesh.yaml"


@contextmanager
def follower(file: Path, problem: str = "") -> Iterator[None]:
    """Tells of each version that it has seen it."""
    ended = threading.Event()

    def follow() -> None:
        while not ended.wait(0.01):
            tell_applied(file, US, version_of(file.read_bytes()), problem)

    tell_applied(file, US, version_of(file.read_bytes()))
    thread = threading.Thread(target=follow)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def before(file: Path) -> Path:
    return file.with_name("mesh.yaml.before")


def test_what_was_there_before_each_change_is_kept(file: Path) -> None:
    with follower(file):
        change_running_mesh(file, "second")
        kept = kept_as(file, b"second")
        change_running_mesh(file, "third")
        change_running_mesh(file, "first")
        change_running_mesh(file, "fourth")
    assert (file.read_text(), before(file).read_text(), kept.read_text()) == ("fourth", "first", "second")


def test_a_change_is_put_back(file: Path) -> None:
    with follower(file):
        change_running_mesh(file, "second")
        assert restore_running_mesh(file, before(file)) == ""
    assert file.read_text() == "first"
    applied_file(file).unlink()
    assert "does not run any more" in restore_running_mesh(file, before(file))
    before(file).unlink()
    assert "could not be put back" in restore_running_mesh(file, before(file))


def test_who_stops_waiting_leaves_the_file_as_it_was(file: Path) -> None:
    tell_applied(file, US, version_of(b"first"))
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(TargetError, match="interrupted"):
        change_running_mesh(file, "second", stopped=stopped)
    assert file.read_text() == "first"


def test_a_mesh_that_runs_from_the_file_and_answers_can_be_changed(file: Path) -> None:
    with follower(file):
        require_changeable(file)


def test_what_cannot_be_changed_is_told_before_anything_is(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change, "ANSWER_SECONDS", 0.2)
    with pytest.raises(TargetError, match="No mesh runs from"):
        require_changeable(file)
    with pytest.raises(UsageError, match="There is no"):
        require_changeable(file.with_name("other.yaml"))
    tell_applied(file, US, version_of(b"other"), "no such service")
    with pytest.raises(TargetError, match=r"does not run what .* says: no such service"):
        require_changeable(file)
    tell_applied(file, replace(US, admin_url="http://127.0.0.1:9"), version_of(b"first"))
    with pytest.raises(TargetError, match="does not answer"):
        require_changeable(file)
    monkeypatch.setattr(os, "access", lambda path, _: path != file.parent)
    with pytest.raises(TargetError, match=f"`{file.parent}` cannot be written to") as caught:
        require_changeable(file)
    assert "chmod" in caught.value.hint


def test_a_mesh_that_was_killed_does_not_run_whatever_it_told(file: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    tell_applied(file, RunningMesh(gone.pid), version_of(b"first"))

    assert running_mesh(file) is None
    with pytest.raises(TargetError, match="No mesh runs from"):
        change_running_mesh(file, "second")


def test_what_a_mesh_tells_of_itself_can_be_read(file: Path) -> None:
    mesh = RunningMesh(os.getpid(), keyed=False, ports={"cart": 8001}, edge_port=8000)
    tell_applied(file, mesh, "version", "a problem")

    assert running_mesh(file) == replace(mesh, seen="version", problem="a problem")
    applied_file(file).write_text("half of")
    assert running_mesh(file) is None


def test_what_is_there_already_is_waited_for_and_not_taken_for_the_first_version(file: Path) -> None:
    """As when whoever wrote it was killed before the mesh had taken it."""
    with follower(file):
        change_running_mesh(file, "second", original=before(file))
        change_running_mesh(file, "second", original=before(file))
    assert (file.read_text(), before(file).read_text()) == ("second", "first")


def test_what_the_mesh_refuses_is_undone(file: Path) -> None:
    with follower(file, "not with me"), pytest.raises(TargetError, match="not with me") as caught:
        change_running_mesh(file, "second")
    assert file.read_text() == "first"
    assert str(before(file)) in caught.value.hint


def test_without_a_running_mesh_nothing_is_changed(file: Path) -> None:
    with pytest.raises(TargetError, match="No mesh runs from"):
        change_running_mesh(file, "second")
    assert file.read_text() == "first"
    assert not before(file).exists()


def test_a_mesh_that_has_gone_is_not_waited_for_forever(file: Path) -> None:
    tell_applied(file, US, "long ago")
    with pytest.raises(TargetError, match=r"within 0\.2 s"):
        change_running_mesh(file, "second", patience=0.2)
    assert file.read_text() == "first"


def test_a_file_that_is_a_link_stays_one(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(file)
    put(link, b"second")
    assert (link.is_symlink(), file.read_text()) == (True, "second")
    assert applied_file(link).name == "link.yaml.applied"
