"""The Pythons on this machine: those of pyenv, those of uv and those on the search path."""

import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_KEPT_BY = (".pyenv/versions/{version}.*/bin/python", ".local/share/uv/python/cpython-{version}.*/bin/python{version}")
_VERSION = "import platform; print(platform.python_version())"


@cache
def find_python(version: str) -> str | None:
    """The path of one that really runs and has this version, such as `3.9`."""
    return next((path for path in _candidates(version) if full_version(path).startswith(f"{version}.")), None)


def full_version(python: str) -> str:
    """Empty if it does not run, as a shim of pyenv for a version that is not chosen."""
    try:
        done = subprocess.run([python, "-c", _VERSION], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _candidates(version: str) -> Iterator[str]:
    for pattern in _KEPT_BY:
        yield from map(str, sorted(Path.home().glob(pattern.format(version=version))))
    if on_path := shutil.which(f"python{version}"):  # last: it may be that of a virtual environment
        yield on_path
