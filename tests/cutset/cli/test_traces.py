from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.samples.otlp_shop import LINES, SPANS
from typer.testing import CliRunner, Result

from cutset.app.ingest import ingest_traces
from cutset.cli.main import app
from cutset.errors import InputError, UsageError
from cutset.model.steps import finished


def test_what_is_stored_is_shown(cutset: Callable[..., Result], document: Callable[..., Any]) -> None:
    assert "20 traces, 48 spans, 2 services" in cutset("traces").stdout
    assert document("traces")["spans"] == SPANS


def test_to_forget_everything_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text("\n".join(LINES))
    finished(ingest_traces(tmp_path / "store", [str(tmp_path / "spans.jsonl")]))
    result = CliRunner().invoke(app, ["traces", "--keep", "1d", "--store", str(tmp_path / "store")])

    assert (result.exit_code, result.stdout) == (0, "No traces are left\n")
    assert result.stderr == f"Forgot {SPANS} spans\n"


def test_no_traces_are_an_error_for_people_and_a_zero_for_machines(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There are no traces in"):
        CliRunner().invoke(app, ["traces", "--store", str(tmp_path)], catch_exceptions=False)
    assert '"spans": 0' in CliRunner().invoke(app, ["traces", "--json", "--store", str(tmp_path)]).stdout


def test_what_was_refused_is_told_even_if_nothing_is_stored(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text('"just a text"')
    with pytest.raises(InputError, match="The format of"):
        finished(ingest_traces(tmp_path / "store", [str(tmp_path / "notes.json")]))
    result = CliRunner().invoke(app, ["traces", "--store", str(tmp_path / "store")])

    assert isinstance(result.exception, UsageError)
    assert "1 source refused" in result.stderr
    assert "notes.json is not known" in result.stderr
