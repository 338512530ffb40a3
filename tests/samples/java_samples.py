"""Java programs that tests run: `tests/samples/jvm/` has their sources, one folder for each."""

import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from cutset.model.reproduction.site import Site, SiteKind
from cutset.reproduce.jvm.jar import JAR

ROOT = Path(__file__).parents[2]
SAMPLES = Path(__file__).parent / "jvm"


@cache
def built_jar() -> Path:
    """The agent and the extractor, of the sources as they are."""
    if shutil.which("javac"):
        subprocess.run([sys.executable, str(ROOT / "jvm/build.py")], check=True)
    if not JAR.exists():
        pytest.skip("there is no cutset-jvm.jar, and no javac or no Maven to build it")
    return JAR


@cache
def compiled_sample(name: str, *options: str) -> Path:
    """The folder with the classes of a sample, compiled once. Options of javac may follow."""
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("there is no javac to compile Java programs with")
    folder = Path(_FOLDER.name) / str(len(list(Path(_FOLDER.name).iterdir())))
    release = () if "--release" in options else ("--release", "11")  # the `java` on PATH may be older than javac
    sources = map(str, sorted((SAMPLES / name).rglob("*.java")))
    subprocess.run([javac, "-g", "-nowarn", "-d", str(folder), *release, *options, *sources], check=True)
    return folder


_FOLDER = tempfile.TemporaryDirectory(prefix="cutset-java-samples-")


def java_site(name: str, *, line: int = 1, path: str | None = None, raised: bool = False) -> Site:
    """By its name, as in `store.Store::put::OutputStream.write#1`."""
    module, function, expression = name.split("::")
    expression, _, ordinal = expression.partition("#")
    kind = SiteKind.RAISE if raised else SiteKind.CALL
    path = path or module.partition("$")[0].replace(".", "/") + ".java"
    return Site(module, function, expression, int(ordinal or 0), kind, path, line, 0, line, 0)
