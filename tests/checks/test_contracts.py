"""The import contracts of pyproject.toml break when they should: a rule that nothing can break is none."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FORBIDDEN = {  # contract -> a module, and what it must not import
    "Nothing but __main__ uses the command line": ("src/cutset/app/explore.py", "cutset.cli.main"),
    "What a command does needs no terminal": ("src/cutset/app/mesh.py", "rich.console"),
    "Reports read the store; they never run anything": (
        "src/cutset/report/campaign/json.py",
        "cutset.campaign.explore",
    ),
    "A search for the fault behind a failure knows no language: its front end is given to it": (
        "src/cutset/reproduce/loop.py",
        "cutset.reproduce.python.front_end",
    ),
    "The reasoning stages do no I/O": ("src/cutset/search/cuts.py", "socket"),
    "Code inside the system under test never imports Cutset": ("agent/src/cutset_agent/wire.py", "cutset.errors"),
}


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """The contracts that break in a copy of the sources with all these imports in them."""
    folder = tmp_path_factory.mktemp("contracts")
    for name in ("src", "agent/src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    for path, module in FORBIDDEN.values():
        with (folder / path).open("a") as file:
            file.write(f"import {module}\n")
    ran = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{folder}/src:{folder}/agent/src", "COLUMNS": "300"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return set(re.findall(r"^(.+) BROKEN", ran.stdout, re.MULTILINE))


@pytest.mark.parametrize("contract", FORBIDDEN)
def test_a_contract_breaks(broken, contract):
    assert contract in broken
