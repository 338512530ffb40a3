"""The laboratory is built once, whole or not at all; where it cannot run, one line says why, and that is no error."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cluster import build

ROOT = Path(__file__).parents[2]


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "CLUSTER_BIN"}
    return subprocess.run(
        (sys.executable, "-m", "cluster.build", *command),
        cwd=ROOT,
        env=clean | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("controlplane", "jaeger"):
        shutil.copytree(ROOT / "cluster" / module, tmp_path / module)
    monkeypatch.setattr(build, "HERE", tmp_path)
    return tmp_path


def test_without_go_and_without_a_build_it_is_skipped_in_one_line_and_the_command_left_out(tmp_path: Path) -> None:
    done = run("echo", "ran", PATH=str(tmp_path), XDG_CACHE_HOME=str(tmp_path))
    if shutil.which("go", path="/usr/local/sbin:/usr/sbin:/sbin"):
        pytest.skip("Go is among the system's own programs here")
    assert done.returncode == 0
    assert done.stdout.startswith("skipped: Go is not installed")
    assert done.stdout.count("\n") == 1
    assert not done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_named_is_never_built_into(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("of somebody else")
    done = run(CLUSTER_BIN=str(tmp_path))
    assert done.returncode == 1
    assert "lacks etcd, kube-apiserver" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_what_it_is_made_from_names_the_folder(copy: Path) -> None:
    before = build.folder()
    assert build.folder() == before
    for changed in ("controlplane/go.sum", "jaeger/go.mod", "controlplane/portforward/main.go"):
        text = (copy / changed).read_text()
        (copy / changed).write_text(text + "\n")
        assert build.folder() != before, changed
        (copy / changed).write_text(text)
    (copy / "controlplane/README").write_text("says nothing about what is built")
    assert build.folder() == before


def test_a_build_that_fails_leaves_nothing_and_says_what_failed(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/go").write_text("#!/bin/sh\necho 'go: module lookup disabled' >&2\nexit 1\n")
    (tmp_path / "bin/go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin", prepend=":")
    monkeypatch.setattr(build, "unpack_iptables", lambda _place, _say: None)
    place = tmp_path / "cache/whole"
    with pytest.raises(build.BuildError, match="module lookup disabled"):
        build.build(place, lambda _news: None)
    assert [path.name for path in place.parent.iterdir()] == [".lock"]
