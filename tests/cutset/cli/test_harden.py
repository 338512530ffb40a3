"""`cutset harden` on a ledger, without a running system; with one, it is in `end_to_end/test_harden.py`."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from tests.samples.hardening import MESH, RATES, TRAFFIC, fill, ingest_home_pages
from typer.testing import CliRunner, Result

from cutset.cli.harden import print_ways_on
from cutset.cli.main import app
from cutset.errors import CutsetError
from cutset.model.hardening import MeshChanging


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / ".cutset")
    return tmp_path


def harden(*arguments: str) -> Result:
    result = CliRunner().invoke(app, ["harden", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit | CutsetError):
        raise result.exception
    return result


def document(*arguments: str) -> dict:
    result = harden("--json", *arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return json.loads(result.stdout)


def error(*arguments: str) -> CutsetError:
    result = harden(*arguments)
    assert isinstance(result.exception, CutsetError), result.output
    return result.exception


@pytest.mark.usefixtures("store")
def test_the_api_of_most_findings_comes_first_with_advice_and_a_frontier() -> None:
    found = document("--budget", "1")
    assert [site["name"] for site in found["sites"]] == ["cart/GetCart"]
    assert found["sites"][0]["breaks"] == ["GET /", "POST /pay"]
    assert found["sites"][0]["remedies"][0]["settings"] == {"fallback": {"GetCart": "last-good"}}
    assert found["proven"]
    assert (found["covered"], found["coverage"], found["afvr_predicted"]) == (2, 0.5, 0.5)
    assert [(point["budget"], point["covered"]) for point in found["frontier"]] == [(0, 0), (1, 2), (2, 3), (3, 4)]
    assert found["diminishing_from"] == 1


@pytest.mark.usefixtures("store")
def test_people_read_what_why_and_how_far_it_goes() -> None:
    text = harden("--budget", "1").output
    assert "Harden 1 API of cost 1  proven best" in text
    assert "That mitigates 2 of 4 findings; AFVR would be 0.500" in text
    assert "1. cart/GetCart\n   breaks GET /, POST /pay\n" in text
    assert "no timeout" in text
    assert "← this budget, from here on returns diminish" in text


def test_costs_priorities_and_wishes_come_from_a_file_or_the_configuration(store: Path) -> None:
    apis = {
        "cart/GetCart": {"cost": 5},
        "payment/Charge": {"fallback": "last-good-or-empty"},
        "email/SendInvoice": {"untouchable": True},
    }
    (store / "costs.yaml").write_text(yaml.safe_dump({"apis": apis}))
    found = document("--budget", "6", "--cost", "costs.yaml", "--high", "POST /pay")
    assert {site["name"] for site in found["sites"]} == {"cart/GetCart", "payment/Charge"}
    settings = {site["name"]: site["remedies"][0]["settings"] for site in found["sites"]}
    assert settings["payment/Charge"] == {"fallback": {"Charge": "last-good-or-empty"}}
    section = {"high": ["POST /pay"], "apis": {"payment/Charge": {"hardened": True}}}
    content = {"requests": [{"path": "/"}], "target": {"url": "http://127.0.0.1:1"}, "harden": section}
    (store / "cutset.yaml").write_text(yaml.safe_dump(content))
    assert document("--budget", "1")["afvr_predicted"] == 0.25


def test_what_matters_most_is_shown_where_rates_are_known(store: Path) -> None:
    wishes = {"apis": {api: {"failure_rate": rate} for api, rate in RATES.items()}, "traffic": TRAFFIC}
    (store / "costs.yaml").write_text(yaml.safe_dump(wishes))
    options = ("--objective", "availability", "--budget", "1", "--cost", "costs.yaml")
    found = document(*options)
    assert [site["name"] for site in found["sites"]] == ["ad/GetAds"]
    assert (found["requests_per_day"], found["importances"][0]["name"]) == (1010, "ad/GetAds")
    text = harden(*options).output
    assert "Of 1,010 requests a day 200 fail for known causes; hardened, 0.201" in text
    important = text[text.index("What matters most, before anything is hardened") :].splitlines()
    assert important[1].startswith("  ad/GetAds: without it, 200 of 200.2 failed requests per day would succeed; ")
    assert "What matters most" not in harden("--budget", "1").output


def test_stored_traces_tell_latencies_and_traffic(store: Path) -> None:
    ingest_home_pages(store / ".cutset")
    (store / "mesh.yaml").write_text(MESH)
    found = document("--budget", "2", "--high", "busiest", "--mesh", "mesh.yaml")
    assert {site["name"] for site in found["sites"]} == {"cart/GetCart", "ad/GetAds"}  # both of GET /
    remedies = {site["name"]: site["remedies"] for site in found["sites"]}
    advised = {each["name"]: each["settings"] for each in remedies["cart/GetCart"]}
    assert advised["timeout"] == {"timeout_seconds": 0.75}
    assert advised["bulkhead"] == {"max_parallel": 15}  # 3 × 10 a second × 0.5 s
    assert found["failed_per_day"]["before"] > 0  # rates follow from traces, too


def test_the_frontier_is_drawn_and_manifests_are_written(store: Path) -> None:
    (store / "mesh.yaml").write_text(MESH)  # retries already, so that there is one manifest only
    found = document("--budget", "1", "--plot", "frontier.svg", "--write", "k8s")
    root = ET.fromstring((store / "frontier.svg").read_text())
    assert root.tag.endswith("svg")
    texts = [each.text or "" for each in root.iter() if each.tag.endswith("text")]
    assert {"Budget 1: 50% gone", "From 1 on (50%) returns diminish"} <= set(texts)
    assert found["written"] == ["k8s/cart-destinationrule.yaml"]
    assert (store / found["written"][0]).exists()


def test_a_page_and_a_comment_are_written(store: Path) -> None:
    document("--budget", "2", "--html", "kept/harden.html", "--markdown", "kept/comment.md")
    page = (store / "kept" / "harden.html").read_text()
    assert "Harden 2 of 4 APIs: 3 of 4 cuts gone, proven best" in page
    assert "At a budget of 1, from which on returns diminish" in page
    assert "### Harden 2 of 4 APIs" in (store / "kept" / "comment.md").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cost", "nowhere.yaml"], "Cannot read `nowhere.yaml`"),
        (["--apply", "local"], "There is no mesh.yaml to change"),
        (["--verify"], "Cannot read `cutset.yaml`"),
        (["--resume"], "`--resume` goes with `--apply` or `--verify`"),
        (["--high", "GET /x"], "There is no request `GET /x` in this campaign"),
        (["nine"], "There is no campaign `nine`"),
    ],
)
@pytest.mark.usefixtures("store")
def test_what_cannot_be_done_is_told(options: list[str], message: str) -> None:
    assert message in error(*options).message


def test_who_interrupts_it_is_told_how_to_go_on_and_how_to_go_back(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["cutset", "harden", "--high", "GET /", "--resume", "--verify"])
    original = store / "mesh.yaml.before"
    change = MeshChanging(file=store / "mesh.yaml", original=original, added=("x.y: 1",), kept=(), left_out=())

    print_ways_on([change], store)
    go_on = "Stopped; what is known of 0 cuts is kept. Go on with `cutset harden --high 'GET /' --verify --resume`"
    assert capsys.readouterr().err == go_on + "\n"  # nothing was changed yet

    original.write_text("")
    print_ways_on([change], store)
    assert capsys.readouterr().err == f"{go_on}, or undo what was applied with `cp mesh.yaml.before mesh.yaml`\n"
