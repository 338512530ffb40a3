"""What goes wrong before there is a connection. What a real API server answers is in tests/istio."""

import asyncio
import json
from pathlib import Path

import pytest

from cutset.errors import CutsetError
from cutset.kubernetes.client import connected


def _kubeconfig(path: Path, server: str) -> None:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": server}}],
        "users": [{"name": "me", "user": {"token": "t"}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
    }
    path.write_text(json.dumps(content))


def _problem(context: str = "") -> CutsetError:
    async def connect() -> None:
        async with connected(context):
            pass

    with pytest.raises(CutsetError) as caught:
        asyncio.run(connect())
    return caught.value


def test_a_server_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _kubeconfig(tmp_path / "config", "http://127.0.0.1:1")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    problem = _problem()
    assert "does not answer" in problem.message
    assert "kubectl" in problem.hint


def test_a_context_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _kubeconfig(tmp_path / "config", "http://127.0.0.1:1")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    assert "`elsewhere`" in _problem("elsewhere").message


def test_no_kubeconfig_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "kubeconfig" in _problem().message


def test_a_kubeconfig_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config").write_text("what: [is this")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    assert "kubeconfig" in _problem().message
