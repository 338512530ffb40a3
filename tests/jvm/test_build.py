"""`jvm/build.py`, which builds the jar."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.samples.java_samples import ROOT, built_jar

BUILD = ROOT / "jvm/build.py"


@pytest.fixture(scope="module")
def jar() -> Path:
    return built_jar()


def build(jar: Path, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, str(BUILD), str(jar)], env={**os.environ, **env}, capture_output=True, text=True, check=True
    )
    return done.stderr


def test_the_same_sources_give_the_same_jar_with_asm_under_our_name(jar: Path, tmp_path: Path):
    if shutil.which("javac") is None:
        pytest.skip("there is no javac")
    build(tmp_path / "again.jar")
    assert (tmp_path / "again.jar").read_bytes() == jar.read_bytes()
    with zipfile.ZipFile(jar) as archive:
        names = archive.namelist()
        assert all(name.startswith(("cutset/asm/", "cutset/jvm/", "META-INF/")) for name in names)
        assert all(b"org/objectweb/asm/" not in archive.read(name) for name in names)
        assert b"INRIA" in archive.read("META-INF/cutset/ASM-LICENSE.txt")
        versions = {archive.read(name)[7] for name in names if name.endswith(".class")}
    assert max(versions) <= 52  # Java 8


def test_nothing_is_done_while_sources_are_the_same(jar: Path):
    assert build(jar, PATH="/nowhere", JAVA_HOME="") == ""


def test_without_a_compiler_it_says_so_and_keeps_what_is_there(tmp_path: Path):
    env = {"PATH": "/nowhere", "JAVA_HOME": ""}
    assert build(tmp_path / "cutset-jvm.jar", **env).startswith("cutset-jvm.jar is not built")
    (tmp_path / "old.jar").write_bytes(b"old")
    assert "the one that is there stays: there is no `javac`" in build(tmp_path / "old.jar", **env)
    assert (tmp_path / "old.jar").read_bytes() == b"old"


def test_without_maven_it_says_so(tmp_path: Path):
    env = {"PATH": str(only_javac(tmp_path)), "JAVA_HOME": "", "XDG_CACHE_HOME": str(tmp_path)}
    assert "there is no `mvn` to fetch org.ow2.asm:asm:9.8" in build(tmp_path / "a.jar", **env)
    assert not (tmp_path / "a.jar").exists()


def test_an_asm_that_is_not_the_one_it_should_be_is_not_used(tmp_path: Path):
    for name in ("asm", "asm-tree", "asm-analysis"):
        kept = tmp_path / f"cutset/maven/org/ow2/asm/{name}/9.8/{name}-9.8.jar"
        kept.parent.mkdir(parents=True)
        kept.write_bytes(b"another")
    env = {"PATH": str(only_javac(tmp_path)), "JAVA_HOME": "", "XDG_CACHE_HOME": str(tmp_path)}
    said = build(tmp_path / "a.jar", **env)
    assert "asm-9.8.jar is not the file that it should be; remove it" in said
    assert not (tmp_path / "a.jar").exists()


def only_javac(folder: Path) -> Path:
    """A PATH that has nothing but a compiler."""
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("there is no javac")
    path = folder / "path"
    path.mkdir()
    (path / "javac").symlink_to(javac)
    return path
