import json
from pathlib import Path

import pytest
from tests.samples.drill import FAILED
from tests.samples.recorded_runs import record, record_drills, record_reproduction, search_begun
from typer.testing import CliRunner

from cutset.cli.main import app
from cutset.errors import UsageError


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def report(*arguments: str):
    return CliRunner().invoke(app, ["report", *arguments])


def test_a_session_of_drills_is_shown_by_its_id_as_text_document_page_and_markdown() -> None:
    record_drills(Path(".cutset"))

    shown = report("drills", "--html", "out/drills.html", "--markdown", "out/drills.md")
    document = json.loads(report("drills", "--json").stdout)

    assert shown.exit_code == 0
    assert "2 drills: 1 passed, 1 failed; the service was started once" in shown.stdout
    assert document["verdicts"] == {"passed": 1, "failed": 1, "unknown": 0}
    assert f"cutset drill --replay {FAILED.test.id}" in Path("out/drills.html").read_text()
    assert f"cutset drill --replay {FAILED.test.id}" in Path("out/drills.md").read_text()


def test_a_reproduction_is_shown_by_its_id_with_both_logs() -> None:
    record_reproduction(Path(".cutset"))

    shown = report("reproduction", "--html", "failure.html", "--markdown", "failure.md")
    document = json.loads(report("reproduction", "--json").stdout)

    assert shown.exit_code == 0
    assert "OSError(28, 'No space left on device')" in shown.stdout
    assert document["reproduced"]
    assert '<tr id="log-7" class="chained m1">' in Path("failure.html").read_text()
    assert "python .cutset/reproductions/reproduction/replay/replay.py" in Path("failure.md").read_text()


def test_a_search_without_a_result_says_how_to_go_on() -> None:
    record(Path(".cutset"), "search", search_begun("search"))

    failed = report("search")

    assert isinstance(failed.exception, UsageError)
    assert "--resume" in failed.exception.hint


def test_options_of_campaigns_do_not_go_with_it() -> None:
    record_drills(Path(".cutset"))

    assert isinstance(report("drills", "--junit", "x.xml").exception, UsageError)
