import os
import sys
from pathlib import Path

import pytest

from cluster.requirements import lacking


def test_what_pods_would_not_see_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(sys, "prefix", "/tmp/clone/.venv")
    assert lacking(Path("nowhere"), built=True).startswith("/tmp/clone/.venv is in /tmp")
