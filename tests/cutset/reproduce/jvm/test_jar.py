from pathlib import Path

import pytest

from cutset.errors import InputError
from cutset.reproduce.jvm import jar as jar_module
from cutset.reproduce.jvm.jar import find_java, jar_version, jvm_jar


def test_without_the_jar_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jar_module, "JAR", tmp_path / "cutset-jvm.jar")
    with pytest.raises(InputError, match="not installed"):
        jvm_jar()


def test_versions_are_told_apart_by_their_sources(jar: Path):
    assert int(jar_version(jar), 16)
    jar.touch()
    assert jar_version(jar) == jar_version(jvm_jar())


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_java_that_was_asked_for_comes_before_that_of_java_home_and_of_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked, at_home, on_path = (program(tmp_path / name) for name in ("own/java", "home/bin/java", "bin/java"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert find_java() == on_path
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() == at_home
    assert find_java(asked) == asked


def test_without_any_java_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(InputError, match="JAVA_HOME"):
        find_java()
    with pytest.raises(InputError, match="`no-java` is no program"):
        find_java("no-java")
