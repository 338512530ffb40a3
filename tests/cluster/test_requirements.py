import sys

import pytest
from cluster.requirements import hidden_from_pods


def test_what_pods_would_not_see_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "prefix", "/tmp/clone/.venv")
    assert hidden_from_pods().startswith("/tmp/clone/.venv is in /tmp")
    monkeypatch.setattr(sys, "prefix", "/home/ada/clone/.venv")
    assert not hidden_from_pods()
