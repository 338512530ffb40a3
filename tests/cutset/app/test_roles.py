"""What the roles are is tested with `inject/istio/rights.py`, that they are enough in `tests/istio`."""

import asyncio
from pathlib import Path

import pytest

from cutset.app.roles import planned_roles
from cutset.errors import UsageError


def test_without_a_cluster_there_are_no_roles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UsageError, match="no usable kubeconfig"):
        asyncio.run(planned_roles(["shop"], "cutset"))
