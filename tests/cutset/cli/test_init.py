from pathlib import Path

import pytest
from typer.testing import CliRunner

from cutset.cli.main import app
from cutset.config.explore import load_config
from cutset.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "openapi.yaml").write_text("openapi: 3.0.0\npaths: {/items: {get: {}, post: {}}}\n")
    return tmp_path


def test_without_a_mesh_it_must_be_told_where_experiments_enter(folder: Path) -> None:
    result = CliRunner().invoke(app, ["init", "--yes"])
    assert isinstance(result.exception, UsageError)
    assert "--url" in result.exception.hint
    assert not (folder / "cutset.yaml").exists()


def test_the_likeliest_source_is_taken_if_nothing_may_be_asked(folder: Path) -> None:
    result = CliRunner().invoke(app, ["init", "--yes", "--url", "http://a.test:1"])
    assert result.output == (
        "Wrote cutset.yaml: 1 of 2 requests in openapi.yaml; entry by http://a.test:1\n"
        "Read its comments; then `cutset doctor` and `cutset explore`\n"
    )
    assert load_config(folder / "cutset.yaml").requests[0].name == "GET /items"


def test_on_a_terminal_it_asks_what_it_cannot_know(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutset.cli.init.is_terminal", lambda: True)
    result = CliRunner().invoke(app, ["init"], input="http://a.test:1\nnone\n")
    assert "Where do experiments enter" in result.output
    assert "here: openapi.yaml" in result.output
    assert [each.name for each in load_config(folder / "cutset.yaml").requests] == ["GET /"]


def test_it_is_said_if_nothing_of_a_source_can_be_taken(folder: Path) -> None:
    (folder / "openapi.yaml").write_text("openapi: 3.0.0\npaths: {/items: {post: {}}}\n")
    result = CliRunner().invoke(app, ["init", "--yes", "--url", "http://a.test:1"])
    assert "0 of 1 request in openapi.yaml, so `GET /`;" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--url", "shop"], "--url: expected a URL"),
        (["-n", "shop", "--url", "http://a.test"], "are two ways"),
        (["--url", "http://a.test", "--from", "none.har"], "There is no source of requests"),
    ],
)
def test_what_cannot_be_meant_is_told(folder: Path, words: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["init", "--yes", *words])
    assert isinstance(result.exception, UsageError)
    assert message in result.exception.message


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "cutset.yaml").write_text("mine")
    result = CliRunner().invoke(app, ["init", "-n", "shop", "--out", str(tmp_path / "cutset.yaml")])
    assert isinstance(result.exception, UsageError)
    assert "--force" in result.exception.hint


@pytest.mark.parametrize("option", ["--from", "--url", "--yes", "--context", "--environment", "--out", "--force"])
def test_its_help_tells_all_options(option: str) -> None:
    assert option in CliRunner().invoke(app, ["init", "--help"], env={"COLUMNS": "120"}).output
