"""The other Pythons on this machine: those of pyenv, and those on the search path."""

import functools
import shutil
import subprocess
from pathlib import Path

import pytest


@functools.cache
def interpreter(version):
    found = [*Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), shutil.which(f"python{version}")]
    for path in filter(None, found):
        run = subprocess.run(
            [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.stdout.strip() == version:
            return str(path)
    return pytest.skip(f"Python {version} is not installed")
