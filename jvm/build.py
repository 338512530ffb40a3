"""Builds `cutset-jvm.jar`: the agent and the extractor of `cutset reproduce` for JVM programs, and ASM, in one file.

    python jvm/build.py [where the jar goes]

Stands alone: it needs `javac` and, the first time, Maven, which fetches ASM. Without one of them it says so and ends
well: the rest of Cutset does without the jar. Nothing is done while the sources are the same.

The jar goes into the JVMs of other people's programs, which may bring an ASM of their own: ours is called
`cutset.asm` in it. Class files are Java 8's.
"""

import hashlib
import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from maven import NoSuchJarError, jars

HERE = Path(__file__).resolve().parent
JAR = HERE.parent / "src/cutset/reproduce/jvm/cutset-jvm.jar"
ASM = {  # by coordinates: SHA-256
    "org.ow2.asm:asm:9.8": "876eab6a83daecad5ca67eb9fcabb063c97b5aeb8cf1fca7a989ecde17522051",
    "org.ow2.asm:asm-tree:9.8": "14b7880cb7c85eed101e2710432fc3ffb83275532a6a894dc4c4095d49ad59f1",
    "org.ow2.asm:asm-analysis:9.8": "e640732fbcd3c6271925a504f125e38384688f4dfbbf92c8622dfcee0d09edb9",
}
RENAMED = (b"org/objectweb/asm/", b"cutset/asm/")
MANIFEST = """\
Manifest-Version: 1.0
Main-Class: cutset.jvm.Main
Premain-Class: cutset.jvm.agent.Agent
Boot-Class-Path: cutset-jvm.jar
"""
STAMP = "META-INF/cutset/sources.sha256"
SAME_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can say: the same sources give the same jar


class CannotBuildError(Exception):
    """Something is missing here; the text says what."""


def main(jar: Path = JAR) -> int:
    sources = sorted((HERE / "src").rglob("*.java"))
    stamp = _stamp(sources)
    if _stamp_of(jar) == stamp:
        jar.touch()  # for make, which goes by times
        return 0
    try:
        javac = found_javac()
        libraries = fetched(ASM)
    except CannotBuildError as reason:
        kept = "the one that is there stays" if jar.exists() else "`cutset reproduce` will do Python programs only"
        sys.stderr.write(f"cutset-jvm.jar is not built, {kept}: {reason}\n")
        return 0
    classes = compiled(javac, sources, libraries)
    for path in libraries:
        classes.update(_classes_in(path))
    content = {name.replace(RENAMED[0].decode(), RENAMED[1].decode()): renamed(code) for name, code in classes.items()}
    content["META-INF/cutset/ASM-LICENSE.txt"] = (HERE / "ASM-LICENSE.txt").read_bytes()
    content[STAMP] = stamp.encode()
    _write(jar, content)
    sys.stderr.write(f"cutset-jvm.jar: {jar.stat().st_size // 1000} kB\n")
    return 0


def found_javac() -> str:
    home = os.environ.get("JAVA_HOME")
    folders = [*([str(Path(home) / "bin")] if home else []), os.environ.get("PATH", os.defpath)]
    javac = shutil.which("javac", path=os.pathsep.join(folders))
    if javac is None:
        raise CannotBuildError("there is no `javac`; install a JDK of 11 or later, or set JAVA_HOME")
    return javac


def compiled(javac: str, sources: list[Path], libraries: list[Path]) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory(prefix="cutset-jvm-") as folder:
        options = ["--release", "8", "-Xlint:all,-options", "-encoding", "UTF-8", "-g", "-d", folder]
        class_path = os.pathsep.join(map(str, libraries))
        done = subprocess.run([javac, *options, "-cp", class_path, *map(str, sources)], check=False)
        if done.returncode:
            sys.exit(done.returncode)
        return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*.class")}


def fetched(sha256_of: Mapping[str, str]) -> list[Path]:
    try:
        libraries = jars(list(sha256_of))
    except NoSuchJarError as error:
        raise CannotBuildError(str(error)) from error
    for path, sha256 in zip(libraries, sha256_of.values(), strict=True):
        if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
            raise CannotBuildError(f"{path} is not the file that it should be; remove it to fetch it again")
    return libraries


def renamed(class_file: bytes) -> bytes:
    """With ASM's package under our name: all names of a class file are texts of its constant pool.

    Nothing in a class file depends on how long they are (Java virtual machine specification, section 4.4).
    """
    count = int.from_bytes(class_file[8:10], "big")
    made = bytearray(class_file[:10])
    at, number = 10, 1
    while number < count:
        tag = class_file[at]
        if tag == 1:
            size = int.from_bytes(class_file[at + 1 : at + 3], "big")
            text = class_file[at + 3 : at + 3 + size].replace(*RENAMED)
            made += struct.pack(">BH", 1, len(text)) + text
            at += 3 + size
        else:
            size = 1 + _CONSTANT_SIZES[tag]
            made += class_file[at : at + size]
            at += size
        number += 2 if tag in (5, 6) else 1  # long and double take two numbers
    return bytes(made + class_file[at:])


_CONSTANT_SIZES = {
    3: 4,
    4: 4,
    5: 8,
    6: 8,
    7: 2,
    8: 2,
    9: 4,
    10: 4,
    11: 4,
    12: 4,
    15: 3,
    16: 2,
    17: 4,
    18: 4,
    19: 2,
    20: 2,
}


def _classes_in(jar: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(jar) as archive:
        return {
            name: archive.read(name)
            for name in archive.namelist()
            if name.endswith(".class") and name != "module-info.class"
        }


def _write(jar: Path, content: dict[str, bytes]) -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, data in [("META-INF/MANIFEST.MF", MANIFEST.encode()), *sorted(content.items())]:
            entry = zipfile.ZipInfo(name, SAME_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    _replace(jar, written.getvalue())


def _replace(path: Path, content: bytes) -> None:
    """At once: others may read it, or build it, at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(content)
    beside.replace(path)


def _stamp(sources: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in [Path(__file__), HERE / "ASM-LICENSE.txt", *sources]:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _stamp_of(jar: Path) -> str | None:
    try:
        with zipfile.ZipFile(jar) as archive:
            return archive.read(STAMP).decode()
    except (OSError, zipfile.BadZipFile, KeyError):
        return None


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
