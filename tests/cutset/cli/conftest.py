import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.samples.otlp_shop import LINES
from typer.testing import CliRunner, Result

from cutset.app.ingest import ingest_traces
from cutset.cli.main import app
from cutset.model.steps import finished

Cutset = Callable[..., Result]


@pytest.fixture(scope="session")
def stored_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the traces of a shop, for commands that read it."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "spans.jsonl").write_text("\n".join(LINES) + "\n")
    finished(ingest_traces(folder / ".cutset", [str(folder / "spans.jsonl")]))
    return folder / ".cutset"


@pytest.fixture
def cutset(stored_shop: Path) -> Cutset:
    """Runs a command on that store."""

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, [*arguments, "--store", str(stored_shop)], env={"COLUMNS": "100"})

    return run


@pytest.fixture
def document(cutset: Cutset) -> Callable[..., Any]:
    def run(*arguments: str) -> Any:
        result = cutset(*arguments, "--json")
        assert result.exit_code == 0, result
        return json.loads(result.stdout)

    return run
