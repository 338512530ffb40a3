"""Where the Java part is, and a `java` to run it with."""

import os
import shutil
import zipfile
from pathlib import Path

from cutset.errors import InputError

JAR = Path(__file__).with_name("cutset-jvm.jar")  # built by jvm/build.py


def jvm_jar() -> Path:
    if not JAR.exists():
        raise InputError(
            "the part of Cutset for JVM programs is not installed: cutset-jvm.jar is missing",
            hint="Wheels have it. In a source tree, `python jvm/build.py` builds it, with a JDK of 11 or later.",
        )
    return JAR


def jar_version(jar: Path) -> str:
    """Another for other sources; the same however often it is built."""
    with zipfile.ZipFile(jar) as archive:
        return archive.read("META-INF/cutset/sources.sha256").decode()[:16]


def find_java(preferred: str | None = None) -> str:
    """The program that was asked for; else that of JAVA_HOME, else the first on PATH."""
    home = os.environ.get("JAVA_HOME")
    for name in [preferred] if preferred else [*([str(Path(home) / "bin/java")] if home else []), "java"]:
        if found := shutil.which(name):
            return found
    raise InputError(
        f"`{preferred}` is no program" if preferred else "there is no `java` on PATH, and JAVA_HOME names none",
        hint="Install a Java runtime of 11 or later, or name one with --java.",
    )
