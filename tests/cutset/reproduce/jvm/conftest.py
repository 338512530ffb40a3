"""Java programs that tests run: `tests/samples/jvm/` has their sources, one folder for each."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cutset.reproduce.jvm.jar import JAR

ROOT = Path(__file__).parents[4]
SAMPLES = ROOT / "tests/samples/jvm"
Compiled = Callable[..., Path]


@pytest.fixture(scope="session")
def jar() -> Path:
    """The agent and the extractor, of the sources as they are."""
    if shutil.which("javac"):
        subprocess.run([sys.executable, str(ROOT / "jvm/build.py")], check=True)
    if not JAR.exists():
        pytest.skip("there is no cutset-jvm.jar, and no javac or no Maven Central to build it")
    return JAR


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """By name of a sample: the folder with its classes, compiled once. Options of javac may follow."""
    made: dict[tuple[str, ...], Path] = {}

    def compile_sample(name: str, *options: str) -> Path:
        javac = shutil.which("javac")
        if javac is None:
            pytest.skip("there is no javac to compile Java programs with")
        if (name, *options) not in made:
            folder = tmp_path_factory.mktemp(name)
            sources = map(str, sorted((SAMPLES / name).rglob("*.java")))
            subprocess.run([javac, "-g", "-nowarn", "-d", str(folder), *options, *sources], check=True)
            made[name, *options] = folder
        return made[name, *options]

    return compile_sample
