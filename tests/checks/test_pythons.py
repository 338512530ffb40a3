"""Pythons are found by their versions, and only those that run."""

import sys

from checks.pythons import find_python, full_version


def test_the_python_that_runs_this_has_a_version():
    assert full_version(sys.executable).startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")


def test_what_is_found_has_the_version_that_was_asked_for(tmp_path, monkeypatch):
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / f"python{version}").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    find_python.cache_clear()
    assert find_python(version) == str(tmp_path / f"python{version}")
    find_python.cache_clear()


def test_a_shim_without_a_python_behind_it_is_none(tmp_path, monkeypatch):
    shim = tmp_path / "python3.99"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert full_version(str(shim)) == full_version(str(tmp_path / "nowhere")) == ""
    assert find_python("3.99") is None
