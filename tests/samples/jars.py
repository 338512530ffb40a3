"""Jars and class folders for what looks at names alone: their class files are empty."""

import zipfile
from collections.abc import Mapping
from pathlib import Path


def jar(path: Path, *classes: str, manifest: str = "", files: Mapping[str, bytes] | None = None) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        if manifest:
            archive.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\r\n{manifest}\r\n")
        for name in classes:
            archive.writestr(f"{name.replace('.', '/')}.class", b"")
        for file, content in (files or {}).items():
            archive.writestr(file, content)
    return str(path)


def class_folder(path: Path, *classes: str) -> str:
    for name in classes:
        file = path / f"{name.replace('.', '/')}.class"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return str(path)
