"""The recipe of the container image. Nothing builds it here: what can be told of it without that is told."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
RECIPE = PROJECT / "deploy/Dockerfile"


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", RECIPE.read_text())
    return [
        (line.partition(" ")[0], line.partition(" ")[2])
        for line in text.splitlines()
        if line and not line.startswith("#")
    ]


def test_it_is_built_in_two_stages_from_bases_of_one_version() -> None:
    bases = [rest.split()[0] for word, rest in instructions() if word == "FROM"]
    assert len(bases) == 2
    assert all(re.fullmatch(r"python:3\.\d+-slim-\w+", base) for base in bases)


def test_it_runs_our_command_as_nobody_in_particular() -> None:
    found = dict(instructions())
    assert found["ENTRYPOINT"] == '["cutset"]'
    assert found["USER"] == "65532:65532"


def test_all_that_is_copied_is_there_and_is_let_in() -> None:
    copied = [rest.split()[:-1] for word, rest in instructions() if word == "COPY" and "--from" not in rest]
    names = {name for names in copied for name in names}
    allowed = {line[1:] for line in (PROJECT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert names == allowed
    assert all((PROJECT / name).exists() for name in names)


def test_the_linter_has_nothing_to_say() -> None:
    if (linter := shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")) is None:
        pytest.skip("hadolint is not installed")
    found = subprocess.run([linter, str(RECIPE)], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")
