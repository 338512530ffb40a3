import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import typer
from tests.samples.broken_service import broken_service
from tests.samples.campaign import EVENTS, RUN, audited, experiment, points
from tests.samples.impacts import Truth, impact_events

from cutset.cli.explore import explore_command
from cutset.cli.report import report_command
from cutset.errors import TargetError, UsageError
from cutset.model.event import CampaignEvent, CampaignStarted, RequestFinished
from cutset.model.outcome import Outcome, Verdict
from cutset.model.run import RunFinished
from cutset.model.summary import summarise
from cutset.report.campaign.baseline import accept, to_yaml
from cutset.store.ledger import open_ledger

COMPLETE: list[CampaignEvent] = [
    CampaignStarted(requests=("GET /",), max_size=3),
    audited("GET /"),
    experiment("GET /", Verdict.FAILED, "500", "cart/GetCart"),
    RequestFinished(request="GET /", complete_up_to=3, reason=""),
    RunFinished(reason=""),
]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cutset.yaml").write_text(
        "requests: [{path: /}]\ntarget: {url: 'http://127.0.0.1:1'}\n"
        "collector: {http_port: 0, grpc_port: 0, export_interval: 0.1}\nlimits: {trace_timeout: 0.2}\n"
    )


def record(events: list[CampaignEvent]) -> None:
    with open_ledger(Path(".cutset")) as ledger:
        for event in [RUN, *events]:
            ledger.append("one", event)


def accept_all_of(events: list[CampaignEvent]) -> Path:
    Path("baseline.yaml").write_text(to_yaml(accept(summarise(events))))
    return Path("baseline.yaml")


@pytest.mark.parametrize(
    ("events", "known", "code"),
    [(COMPLETE, COMPLETE, 0), (COMPLETE, [], 1), (EVENTS, EVENTS, 3), (EVENTS, COMPLETE, 1)],
)
def test_against_a_baseline_the_exit_code_tells_new_from_accepted_from_could_not_tell(
    capsys: pytest.CaptureFixture[str], events: list[CampaignEvent], known: list[CampaignEvent], code: int
) -> None:
    record(events)
    report_command()
    plain = capsys.readouterr().out

    with pytest.raises(typer.Exit) as end:
        report_command(against=accept_all_of(known))

    assert end.value.exit_code == code
    assert capsys.readouterr().out.startswith(f"{plain}\nAgainst baseline.yaml\n")


def test_the_files_for_ci_are_written_besides_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    record(EVENTS)

    with pytest.raises(typer.Exit) as end:
        report_command(
            as_json=True,
            against=accept_all_of(COMPLETE),
            junit_file=Path("out/junit.xml"),
            sarif_file=Path("out/cutset.sarif"),
            source=[f"pay={Path.cwd()}/pay.py"],
        )

    assert end.value.exit_code == 1
    standings = [each["standing"] for each in json.loads(capsys.readouterr().out)["against"]["findings"]]
    assert standings == ["accepted", "new"]
    assert len(list(ET.parse("out/junit.xml").iter("failure"))) == 1
    (run,) = json.loads(Path("out/cutset.sarif").read_text())["runs"]
    uris = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in run["results"]]
    assert uris == ["cutset.yaml", "cutset.yaml", "pay.py", "cutset.yaml"]


def test_the_files_for_people_are_written_besides_the_report() -> None:
    record(EVENTS)

    with pytest.raises(typer.Exit):
        report_command(against=accept_all_of(COMPLETE), html=Path("out/report.html"), markdown=Path("out/comment.md"))

    page, comment = (Path("out", name).read_text() for name in ("report.html", "comment.md"))
    assert "<h2>Against what was accepted</h2>" in page
    assert "<script" not in page
    assert "### ❌ Cutset: 1 new or worse" in comment
    assert "Compared with `baseline.yaml`" in comment


def test_a_file_that_cannot_be_written_is_told_with_what_is_kept() -> None:
    record(COMPLETE)
    Path("taken").write_text("")

    with pytest.raises(TargetError, match=r"Cannot write `taken/report\.html`"):
        report_command(html=Path("taken/report.html"))


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        (report_command, {"against": Path("absent.yaml")}, "Cannot read `absent.yaml`: No such file or directory"),
        (explore_command, {"against": Path("absent.yaml")}, "Cannot read `absent.yaml`: No such file or directory"),
        (report_command, {"list_all": True, "junit_file": Path("x")}, "go with a whole report"),
        (explore_command, {"explain": "a/B", "sarif_file": Path("x")}, "go with a whole campaign"),
        (explore_command, {"replay": "1f3a90bc", "against": Path("x")}, "go with a whole campaign"),
        (report_command, {"source": ["a=b"]}, "`--source` goes with `--sarif`"),
        (report_command, {"traces": "http://x/{trace}"}, "`--traces` is for impacts"),
        (explore_command, {"replay": "1f3a90bc", "html": Path("x")}, "go with a whole campaign"),
        (report_command, {"impact": True, "junit_file": Path("x")}, "are for campaigns"),
        (report_command, {"sarif_file": Path("x"), "source": ["a"]}, "`--source a`: expected `SERVICE=FILE`"),
    ],
)
def test_wrong_usage_is_explained_before_anything_runs(
    command: Callable[..., None], options: dict[str, Any], message: str
) -> None:
    record(COMPLETE)

    with pytest.raises(UsageError) as error:
        command(**options)

    assert message in error.value.message


def test_an_exploration_that_could_not_tell_is_neither_new_nor_fine() -> None:
    accept_all_of(COMPLETE)

    with broken_service() as (url, collector_port):
        Path("cutset.yaml").write_text(
            f"requests: [{{path: /}}]\ntarget: {{url: '{url}'}}\nlimits: {{trace_timeout: 2}}\n"
            f"collector: {{http_port: {collector_port}, grpc_port: 0, export_interval: 0.1}}\n"
        )
        result = subprocess.run(
            [sys.executable, "-m", "cutset", "explore", "--against", "baseline.yaml", "--junit", "j.xml"],
            env={"PATH": "/usr/bin:/bin", "CUTSET_KEY": "k" * 32},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert result.returncode == 3
    assert "? undecided  GET /  cart/GetCart  the campaign injected nothing" in result.stdout
    assert len(list(ET.parse("j.xml").iter("error"))) == 1


def test_a_campaign_that_decides_nothing_of_what_was_accepted_is_not_fine() -> None:
    """Also if it is complete by its own words: its calls are no longer those of which it was told."""
    survived = Outcome(frozenset(), Verdict.SURVIVED, "200", path=points("other/Get"), calls=points("other/Get"))
    audit = replace(audited("GET /", runs=(survived,)), calls=points("other/Get"))
    events = [replace(COMPLETE[0], requests=("GET /",)), audit]
    record([*events, RequestFinished(request="GET /", complete_up_to=3, reason=""), RunFinished()])

    with pytest.raises(typer.Exit) as end:
        report_command(against=accept_all_of(COMPLETE), junit_file=Path("j.xml"))

    assert end.value.exit_code == 3
    (error,) = ET.parse("j.xml").iter("error")
    assert "nothing of what was accepted could be decided" in error.text


def record_impacts(**truths: Truth) -> None:
    with open_ledger(Path(".cutset")) as ledger:
        for seed, (run, truth) in enumerate(truths.items()):
            for event in impact_events(truth, run=run, seed=seed, others_per_second=100):
                ledger.append(run, event)


def shown(**options: Any) -> int:
    with pytest.raises(typer.Exit) as end:
        report_command(**options)
    return int(end.value.exit_code)


def test_the_latest_impact_is_shown_as_text_document_and_page(capsys: pytest.CaptureFixture[str]) -> None:
    record(COMPLETE)
    record_impacts(monday=Truth(), tuesday=Truth(rate=0.9))

    files = {"html": Path("out/impact.html"), "markdown": Path("out/impact.md")}
    assert shown(impact=True, **files, traces="https://traces/{trace}") == 0
    text = capsys.readouterr()
    assert text.out.startswith("✗ affected  currency/Convert answered 503 at 30 % of calls, in 5 % of live requests (")
    assert (
        "\nrepeat  cutset impact -c /shop/cutset.yaml 'currency/Convert:abort(503)' --rate 30% --share 5%\n" in text.out
    )
    assert text.err == "page: out/impact.html\n"
    assert 'href="https://traces/' in Path("out/impact.html").read_text()
    assert Path("out/impact.md").read_text().startswith("# ✗ Affected")

    assert shown(campaign="monday", as_json=True, traces="jaeger+http://jaeger") == 0  # a run tells what it is
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == "affected"
    assert any("link" in trace for api in document["apis"] for trace in api["failed_traces"])


def test_impacts_have_a_list_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    record(COMPLETE)
    record_impacts(monday=Truth())

    report_command(list_all=True)
    assert capsys.readouterr().out == "one  finished\n"
    assert shown(impact=True, list_all=True) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith("✗ affected     currency/Convert answered 503 at 30 % of calls, in 5 % of live requests")
    assert shown(impact=True, list_all=True, as_json=True) == 0
    assert [each["verdict"] for each in json.loads(capsys.readouterr().out)] == ["affected"]


def test_an_impact_against_another_exits_1_only_if_something_got_worse(capsys: pytest.CaptureFixture[str]) -> None:
    record_impacts(monday=Truth(), tuesday=Truth(rate=0.9))

    assert shown(impact=True, campaign="tuesday", against=Path("monday")) == 1
    told = capsys.readouterr().out
    assert "\n\nAgainst monday\n  ✗ worse  " in told
    assert "  ✗ worse        frontend/POST /cart/checkout  +" in told
    assert shown(impact=True, campaign="monday", against=Path("tuesday"), as_json=True) != 1
    document = json.loads(capsys.readouterr().out)
    assert (document["against"]["worse"], document["against"]["apis"][-1]["change"]) == (False, "same")
