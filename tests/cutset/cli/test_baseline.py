from pathlib import Path

import pytest
import yaml
from tests.samples.campaign import EVENTS, RUN

from cutset.cli.baseline import baseline_command
from cutset.config.baseline import load_baseline
from cutset.errors import UsageError
from cutset.model.event import CampaignEvent
from cutset.report.campaign.baseline import Accepted, to_yaml
from cutset.store.ledger import open_ledger


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record("one", EVENTS)


def record(campaign: str, events: list[CampaignEvent]) -> None:
    with open_ledger(Path(".cutset")) as ledger:
        for event in [RUN, *events]:
            ledger.append(campaign, event)


def explain(path: Path) -> None:
    """What a reviewer does with the file."""
    entries = load_baseline(path)
    path.write_text(to_yaml([Accepted(each.finding, f"because of {each.finding.id}") for each in entries]))


def test_the_latest_campaign_is_written_to_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    record("two", [event for event in EVENTS if getattr(event, "request", "GET /") == "GET /"])

    baseline_command()
    baseline_command("one", output=Path("ci/one.yaml"))

    told = capsys.readouterr().err.splitlines()
    assert told[0] == "baseline.yaml: 2 accepted, 2 added, 0 removed, 2 without a reason"
    assert told[2] == "ci/one.yaml: 3 accepted, 3 added, 0 removed, 3 without a reason"
    assert told[3].startswith("The campaign left something open")
    assert [each["request"] for each in yaml.safe_load(Path("ci/one.yaml").read_text())["accepted"]] == [
        "GET /",
        "GET /",
        "POST /pay",
    ]


def test_an_existing_file_is_left_alone_unless_one_says_how() -> None:
    Path("baseline.yaml").write_text("precious")

    with pytest.raises(UsageError, match=r"`baseline\.yaml` exists"):
        baseline_command()
    with pytest.raises(UsageError, match="exclude each other"):
        baseline_command(update=True, force=True)
    with pytest.raises(UsageError, match="expected a mapping"):
        baseline_command(update=True)

    assert Path("baseline.yaml").read_text() == "precious"


def test_force_replaces_even_a_file_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("baseline.yaml").write_text("<<<<<<< HEAD")

    baseline_command(force=True)

    assert len(load_baseline(Path("baseline.yaml"))) == 3
    assert "reasons that were given before are lost" in capsys.readouterr().err


@pytest.mark.parametrize("how", ["update", "force"])
def test_reasons_are_kept_when_the_file_is_rewritten(how: str) -> None:
    baseline_command()
    explain(Path("baseline.yaml"))
    explained = Path("baseline.yaml").read_text()

    baseline_command(**{how: True})  # type: ignore[arg-type]

    assert Path("baseline.yaml").read_text() == explained


def test_a_merge_keeps_what_the_campaign_did_not_look_at_and_force_does_not() -> None:
    baseline_command()
    record("two", [event for event in EVENTS if getattr(event, "request", "GET /") == "GET /"])

    baseline_command(update=True)
    assert len(load_baseline(Path("baseline.yaml"))) == 3
    baseline_command(force=True)
    assert len(load_baseline(Path("baseline.yaml"))) == 2
