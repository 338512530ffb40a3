"""`cutset explore` against a shop that somebody else runs."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx
import yaml
from tests.samples.opened_dashboard import ORIGIN, opened_dashboard

import cutset_demo
from cutset.app.demo import Boutique
from cutset.app.report import read_campaign
from cutset.model.event import ExperimentFinished
from cutset.model.evidence import evidence_of
from cutset.model.fault import Fault
from cutset.model.run import Loop
from cutset.store.ledger import open_ledger

CUTSET = [sys.executable, "-m", "cutset"]
ENVIRONMENT = os.environ | {"CUTSET_KEY": "a key for tests that nobody guesses"}
CHECKOUT = "POST /cart/checkout"


def experiments(store: Path) -> list[ExperimentFinished]:
    with open_ledger(store) as ledger:
        return [
            event
            for campaign in ledger.runs(Loop.CAMPAIGN)
            for event in ledger.events(campaign.id)
            if isinstance(event, ExperimentFinished)
        ]


def explore(config: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [*CUTSET, "explore", "-c", str(config), *arguments]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False)


def test_a_campaign_killed_in_the_middle_is_resumed_and_ends_with_the_same_findings(
    boutique: tuple[Boutique, Path], tmp_path: Path
) -> None:
    config = boutique[0].config_file
    kills = 0
    for wanted in (1, 3, 6, 9):
        command = [*CUTSET, "explore", "-c", str(config), "-r", CHECKOUT, "-p", "2", *(["--resume"] if kills else [])]
        process = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT)
        while process.poll() is None and len(experiments(tmp_path / ".cutset")) < wanted:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    assert kills == 4

    resumed = explore(config, "-r", CHECKOUT, "--resume", "--json", cwd=tmp_path)

    assert resumed.returncode == 1, resumed.stderr
    (request,) = json.loads(resumed.stdout)["requests"]
    weaknesses = yaml.safe_load((Path(cutset_demo.__file__).parent / "WEAKNESSES.yaml").read_text())["requests"]
    found = {frozenset(fault.partition(":")[0] for fault in finding["cut"]) for finding in request["findings"]}
    assert found == {frozenset(cut) for cut in weaknesses[CHECKOUT]["cuts"]}
    counts = Counter(event.outcome.cut for event in experiments(tmp_path / ".cutset"))
    assert max(counts.values()) == 1
    _every_finding_has_an_answer_and_a_trace_that_shows_its_faults(tmp_path / ".cutset")

    _a_finding_can_be_tried_again_from_its_page(config, tmp_path / ".cutset")

    again = explore(config, "-r", CHECKOUT, "--resume", cwd=tmp_path)
    assert again.returncode == 2
    assert again.stderr.startswith("error: There is no unfinished campaign to resume")


def _every_finding_has_an_answer_and_a_trace_that_shows_its_faults(store: Path) -> None:
    campaign = read_campaign(store)
    healthy = evidence_of(campaign.events, CHECKOUT)
    assert healthy is not None
    assert healthy.answer is not None
    assert "Thank you!" in healthy.answer.text
    assert campaign.findings
    for finding in campaign.findings:
        evidence = evidence_of(campaign.events, CHECKOUT, finding.cut)
        assert evidence is not None
        assert evidence.trace_id in finding.outcome.trace_ids
        assert {span.fault for span in evidence.spans if span.fault} <= {str(fault) for fault in finding.cut}
        marked = {Fault.parse(span.fault).point for span in evidence.spans if span.fault}
        assert marked
        assert marked <= finding.outcome.fired
        assert evidence.answer is not None
        assert str(evidence.answer.status) in finding.outcome.reason


def _a_finding_can_be_tried_again_from_its_page(config: Path, store: Path) -> None:
    key = ENVIRONMENT["CUTSET_KEY"].encode()
    campaign = read_campaign(store)
    at = f"/campaigns/{campaign.id}/findings/{campaign.findings[0].id}"
    with opened_dashboard(store, config_file=config, key=key, baseline_file=store / "baseline.yaml") as (
        dashboard,
        client,
    ):
        client.post(f"{at}/replay", headers=ORIGIN)
        while dashboard.runs.current:
            time.sleep(0.05)
        page = client.get(at).text

    assert "Tried again just now" in page
    assert "still fails" in page
    assert "What it got this time" in page


def test_a_budget_ends_a_campaign_another_strategy_completes_it_and_the_ledger_explains_it(
    boutique: tuple[Boutique, Path], tmp_path: Path
) -> None:
    config = boutique[0].config_file
    spent = explore(config, "-r", CHECKOUT, "--strategy", "fastfi", "--max-experiments", "3", "--json", cwd=tmp_path)

    (request,) = json.loads(spent.stdout)["requests"]
    assert request["problem"] == "the budget of experiments is spent"
    assert (request["experiments"], request["rounds"]) == (3, 3)
    first = {event.outcome.cut for event in experiments(tmp_path / ".cutset")}

    resumed = explore(config, "-r", CHECKOUT, "--resume", "--json", cwd=tmp_path)

    document = json.loads(resumed.stdout)
    assert (document["complete"], document["strategy"]) == (True, "cuts")
    later = [event.outcome.cut for event in experiments(tmp_path / ".cutset")][3:]
    assert not first & set(later)

    charged = explore(config, "--explain", "payment/Charge + paymentbackup/Charge", "--json", cwd=tmp_path)
    quoted = explore(config, "--explain", "payment/Charge + shipping/GetQuote", cwd=tmp_path)
    dropped = explore(config, "--explain", "currency/Convert", cwd=tmp_path)
    assert (charged.returncode, json.loads(charged.stdout)["requests"][0]["verdict"]) == (0, "survived")
    assert json.loads(charged.stdout)["requests"][0]["because"]["trace_ids"]
    assert (quoted.returncode, "experiment  shipping/GetQuote: failed" in quoted.stdout) == (1, True)
    assert (dropped.returncode, "No plan reaches currency/Convert." in dropped.stdout) == (3, True)


def test_a_campaign_under_other_settings_is_not_resumed(boutique: tuple[Boutique, Path], tmp_path: Path) -> None:
    config = boutique[0].config_file
    process = subprocess.Popen(
        [*CUTSET, "explore", "-c", str(config), "-r", "GET /"], cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.DEVNULL
    )
    while not experiments(tmp_path / ".cutset"):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()

    other = explore(config, "-r", "GET /cart", "--resume", cwd=tmp_path)

    assert other.returncode == 2
    assert "was begun with other requests, so it cannot be resumed" in other.stderr


def test_an_interrupted_campaign_says_how_to_go_on(boutique: tuple[Boutique, Path], tmp_path: Path) -> None:
    command = [*CUTSET, "explore", "-c", str(boutique[0].config_file)]
    process = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    while not experiments(tmp_path / ".cutset"):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)

    _, errors = process.communicate(timeout=30)

    assert process.returncode == 130
    assert f"Go on with `cutset explore -c {boutique[0].config_file} --resume`" in errors


def test_a_delay_that_callers_do_not_wait_for_is_a_fault_too(boutique: tuple[Boutique, Path], tmp_path: Path) -> None:
    """The shop gives ads 100 ms and everything else 2 s, so a delay of 300 ms costs the page its ads and no more."""
    options = ("-r", "GET /", "--effect", "delay(300ms)", "--max-size", "1", "--json")

    result = explore(boutique[0].config_file, *options, cwd=tmp_path)

    assert result.returncode == 0, result.stderr
    (request,) = json.loads(result.stdout)["requests"]
    assert [each["cut"] for each in request["degraded"]] == [["ad/GetAds:delay(300ms)"]]
    told = {each["point"]: each["effects"][0] for each in request["points"]}
    assert told["ad/GetAds"]["toleration"] == "degraded"
    assert told["ad/GetAds"]["why"].startswith("given up after 0.1 s")
    assert told["cart/GetCart"] == {"effect": "delay(300ms)", "toleration": "tolerated", "why": "waited for 0.3 s"}


def test_ordinary_users_at_the_edge_cannot_cause_faults(boutique: tuple[Boutique, Path]) -> None:
    from cutset.inject.plan import plan_headers
    from cutset.model.fault import Fault

    mesh = boutique[0].mesh
    plan = plan_headers(
        frozenset({Fault.parse("cart/GetCart")}),
        trace_id="1" * 32,
        span_id="2" * 16,
        key=b"a key for tests that nobody guesses",
        environment="demo",
        expires=int(time.time()) + 60,
        carriers=("tracestate", "baggage", "jaeger"),
    )

    assert httpx.get(mesh.entry_url, headers=plan).status_code == 500
    assert httpx.get(mesh.edge_url, headers=plan).status_code == 200
