"""The agent is a distribution of its own, and goes with one version of Cutset."""

import tomllib
from pathlib import Path

import cutset
import cutset_agent

ROOT = Path(__file__).parents[2]


def project(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]


def test_cutset_and_its_agent_are_released_together():
    assert cutset_agent.__version__ == cutset.__version__
    assert f"cutset-agent=={cutset.__version__}" in project(ROOT)["dependencies"]


def test_the_agent_depends_on_nothing():
    assert project(ROOT / "agent")["dependencies"] == []


def test_both_have_the_same_licence():
    assert (ROOT / "agent/LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_an_application_without_the_agent_is_the_application_itself(monkeypatch):
    monkeypatch.delenv("CUTSET_AGENT", raising=False)
    app = object()
    assert cutset_agent.asgi(app) is cutset_agent.wsgi(app) is app
