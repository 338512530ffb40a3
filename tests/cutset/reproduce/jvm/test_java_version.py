import shutil
from pathlib import Path

import pytest

from cutset.errors import UsageError
from cutset.reproduce.jvm.java_version import LEAST_VERSION, java_version, refuse_old_java


def java_that_says(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{text}\nEND\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('java version "1.8.0_402"', 8),
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "25" 2025-09-16', 25),
    ],
)
def test_the_version_is_told_by_the_program(tmp_path: Path, text: str, version: int) -> None:
    assert java_version(java_that_says(tmp_path / "java", text)) == version


def test_a_java_below_11_is_refused_with_what_to_do(tmp_path: Path) -> None:
    old = java_that_says(tmp_path / "old", 'java version "1.8.0_402"')

    with pytest.raises(UsageError, match="is of Java 8: it takes 11 or later") as error:
        refuse_old_java(old)
    assert "--java PATH" in error.value.hint


@pytest.mark.parametrize("program", ["/bin/false", "/bin/true", "/absent/java"])
def test_what_is_no_java_is_said_to_be_none(program: str) -> None:
    with pytest.raises(UsageError, match=f"`{program} -version` does not tell a version"):
        java_version(program)


def test_what_something_else_says_is_told(tmp_path: Path) -> None:
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    with pytest.raises(UsageError, match="does not tell a version: it says `hello`"):
        java_version(str(program))


def test_a_runtime_that_loads_no_agents_is_refused(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --add-modules ]; then echo "FindException: Module $2 not found"; exit 1; fi\n'
        "echo 'openjdk version \"17.0.15\"' >&2\n"
    )
    java.chmod(0o755)
    with pytest.raises(UsageError, match=r"is a Java runtime without the module java\.instrument") as error:
        refuse_old_java(str(java))
    assert "jlink --add-modules java.instrument" in error.value.hint


def test_the_java_of_this_machine_will_do() -> None:
    java = shutil.which("java")
    if java is None:
        pytest.skip("there is no java")
    assert java_version(java) >= LEAST_VERSION
