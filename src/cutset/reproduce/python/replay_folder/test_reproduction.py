"""Fails until the bug is fixed that replay.py, beside this file, shows. Needs pytest, and nothing of Cutset.

CUTSET_REPLAY_PYTHON   runs the workload with another interpreter, as of a venv with the fixed version
CUTSET_PYTHON          a Python 3.11 or later for the replay itself, should the tests have an older one
"""
# ruff: noqa: INP001, UP036 - it also runs on Python 3.8

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPLAY = Path(__file__).resolve().parent / "replay.py"


@pytest.fixture(name="replayed")
def fixture_replayed() -> Any:
    command = [_python_for_replay(), str(REPLAY), "--json"]
    if os.environ.get("CUTSET_REPLAY_PYTHON"):
        command += ["--python", os.environ["CUTSET_REPLAY_PYTHON"]]
    # The workload should not take itself for a part of these tests.
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1) or not ran.stdout.startswith("{"):
        # Here this is an error, not a failure: it cannot be told, as where the site of the fault is gone.
        pytest.fail(_told(ran.stdout) + ran.stderr, pytrace=False)
    return json.loads(ran.stdout)


def test_the_failure_is_gone(replayed: Any) -> None:
    if replayed["answer"] != "no":
        pytest.fail(replayed["summary"], pytrace=False)


def _told(output: str) -> str:
    return str(json.loads(output)["summary"]) if output.startswith("{") else output


def _python_for_replay() -> str:
    if sys.version_info >= (3, 11):
        return sys.executable
    if os.environ.get("CUTSET_PYTHON"):
        return os.environ["CUTSET_PYTHON"]
    for minor in range(11, 15):
        python = shutil.which(f"python3.{minor}")
        if python and subprocess.run([python, "-c", ""], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    pytest.skip("The replay needs a Python 3.11 or later: name one with CUTSET_PYTHON")
