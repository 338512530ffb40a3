"""The other Pythons on this machine."""

import pytest
from checks.pythons import find_python


def interpreter(version):
    return find_python(version) or pytest.skip(f"Python {version} is not installed")
