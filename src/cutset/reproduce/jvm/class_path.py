"""A class path as the JVM reads it: entries, what the manifests of jars add to them, the classes that they have."""

import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from cutset.errors import InputError

_MANIFEST = "META-INF/MANIFEST.MF"
_NO_CLASSES = ("module-info.class", "package-info.class")


def is_path(name: str) -> bool:
    """Of a jar or a folder; else it is the name of a package or class."""
    return name.endswith(".jar") or "/" in name or not name.strip(".")


def is_jar(entry: str) -> bool:
    return entry.lower().endswith((".jar", ".zip")) and Path(entry).is_file()


def split_class_path(text: str, folder: Path) -> list[str]:
    """Absolute entries, whether they are there or not. `lib/*` stands for the jars in a folder."""
    return [entry for name in absolute_entries(text, folder) for entry in _expanded(name)]


def absolute_entries(text: str, folder: Path) -> list[str]:
    """As they are written, but as seen from any folder. An empty one is the folder itself."""
    return [os.path.normpath(folder / name) for name in text.split(os.pathsep)]


def _expanded(name: str) -> list[str]:
    folder, star = os.path.split(name)
    if star != "*":
        return [name]
    return sorted(str(path) for path in Path(folder).glob("*.[jJ][aA][rR]"))


def with_manifests(entries: Iterable[str]) -> list[str]:
    """Each once, and after each jar what its manifest names; without what is not there, as the JVM does."""
    found: dict[str, None] = {}
    waiting = list(entries)
    while waiting:
        entry = waiting.pop(0)
        if entry not in found and Path(entry).exists():
            found[entry] = None
            if is_jar(entry):
                waiting[:0] = _named_by_manifest(entry)
    return list(found)


def _named_by_manifest(jar: str) -> list[str]:
    names = (unquote(url.removeprefix("file:")) for url in manifest_of(jar).get("Class-Path", "").split())
    return [os.path.normpath(Path(jar).parent / name) for name in names]


def manifest_of(jar: str) -> dict[str, str]:
    """Its main section; none has none."""
    with _opened(jar) as archive:
        try:
            text = archive.read(_MANIFEST).decode("utf-8", errors="replace")
        except KeyError:
            return {}
    unfolded = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n ", "")
    rows = (line.partition(": ") for line in unfolded.partition("\n\n")[0].split("\n"))
    return {name: value for name, colon, value in rows if colon}


def entry_of(name: str, class_path: Sequence[str]) -> str | None:
    """Where the JVM finds a class: the first entry that has it."""
    return next((entry for entry in class_path if name in classes_of(entry)), None)


def has_package(entry: str, package: str) -> bool:
    return any(name.startswith(f"{package}.") for name in classes_of(entry))


@cache
def classes_of(entry: str) -> frozenset[str]:
    """By their binary names. An entry that is not there, or that is another kind of file, has none."""
    path = Path(entry)
    if path.is_dir():
        files: Iterable[str] = _files_in(path)
    elif is_jar(entry):
        with _opened(entry) as archive:
            files = archive.namelist()
    else:
        files = ()
    return frozenset(
        name.removesuffix(".class").replace("/", ".")
        for name in files
        if name.endswith(".class") and not name.endswith(_NO_CLASSES) and not name.startswith("META-INF/")
    )


def _files_in(folder: Path) -> Iterator[str]:
    """But for folders that cannot be packages: a class path may have the root of a project, with all that is there."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name.isidentifier()]
        yield from (Path(place, name).relative_to(folder).as_posix() for name in files)


def nested_jars(jar: str) -> list[str]:
    """Jars in a jar, as Spring Boot packs them: no class path leads into them."""
    with _opened(jar) as archive:
        return [name for name in archive.namelist() if name.endswith(".jar")]


def _opened(jar: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(jar)
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(
            f"`{jar}` is no jar: {error}", hint="Was it downloaded to its end? `unzip -t` tells; else take it away"
        ) from error
