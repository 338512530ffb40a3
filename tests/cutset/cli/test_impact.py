"""How an impact is asked for; what comes of it is in `tests/end_to_end`."""

from pathlib import Path

import pytest
from tests.samples.impacts import impact_events
from typer.testing import CliRunner

from cutset.cli.impact import adjusted_impact
from cutset.cli.main import app
from cutset.errors import CutsetError, UsageError
from cutset.impact.settings import ImpactSettings
from cutset.model.impact import Matching, UserKey
from cutset.store.ledger import open_ledger

CONFIG = "target: {url: http://127.0.0.1:1}\nrequests: [{path: /}]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUTSET_KEY", "a key for tests that nobody guesses")
    Path("cutset.yaml").write_text(CONFIG)
    return tmp_path


def refusal(*arguments: str) -> CutsetError:
    error = CliRunner().invoke(app, ["impact", *arguments]).exception
    assert isinstance(error, CutsetError), error
    return error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name where the fault is, or a workflow"),
        (["payment", "--workflow", "1"], "Name where the fault is, or a workflow, not both"),
        (["payment", "--load", "5", "--path", "/"], "`--path` is for live requests, and these are our own"),
        (["payment", "-r", "GET /"], "`--request` goes with `--load`"),
        (["payment", "--share", "5"], "`--share 5`: expected a percentage above 0%, at most 100%"),
        (["payment", "--share", "51%"], "a share of 51 % and a control of equal size are more than all requests"),
        (["payment", "--share", "1%", "--ramp", "1%,5%"], "`--share` and `--ramp` exclude each other"),
        (["payment", "--ramp", "5%,1%"], "expected shares that rise, found 5 %, 1 %"),
        (["payment", "--rate", "0.5%"], "expected a whole percentage from 1% to 100%"),
        (["payment", "--before", "30"], "`--before 30`: expected a duration"),
        (["payment", "--header", "=x"], "`--header =x`: expected `NAME=VALUE`"),
        (["payment", "--path", "cart"], "expected a path that begins with `/`, found `cart`"),
        (["payment", "--user-header", "a", "--user-cookie", "b"], "has the header `a` and the cookie `b`"),
        (["payment", "--load", "5", "-r", "GET /none"], "There is no request `GET /none`"),
        (["payment", "--workflow", "0", "--against", "x"], "There is no ledger"),
        (["--workflow", "1", "--against", "x"], "`--against` compares one run with one run"),
        (["--workflow", "1", "--load", "5"], "There are no traces in `.cutset`"),
        (["payment"], "Live requests of users would be marked, and nobody can be asked"),
        (["payment:nonsense", "--load", "5"], "`nonsense` is not an effect"),
        (["payment", "--replay", "nowhere"], "nowhere"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_is_sent(
    folder: Path, arguments: list[str], message: str
) -> None:
    error = refusal(*arguments)
    assert message in error.message
    assert error.exit_code == 2
    assert not (folder / ".cutset").exists()


def test_a_run_to_compare_with_must_be_there(folder: Path) -> None:
    with open_ledger(folder / ".cutset") as ledger:
        for event in impact_events():
            ledger.append("known", event)
    error = refusal("payment", "--load", "5", "--against", "other")
    assert (error.message, error.hint) == ("There is no impact `other`", "Known: `known`")


def test_what_is_said_wins_over_the_file() -> None:
    settings = ImpactSettings(ramp=(1.0, 5.0), rate=10, matching=Matching(method="GET", path="/a"))
    said = {"share": 3.0, "path": "/b", "user_cookie": "session", "rate": None}
    adjusted = adjusted_impact(settings, said)
    assert (adjusted.share, adjusted.ramp, adjusted.rate) == (3.0, (), 10)
    assert adjusted.matching == Matching(method="GET", path="/b")
    assert adjusted.user == UserKey(cookie="session")
    assert adjusted_impact(ImpactSettings(share=3.0), {"ramp": (1.0, 2.0)}).share is None
    with pytest.raises(UsageError, match="exclude each other"):
        adjusted_impact(settings, {"share": 1.0, "ramp": (1.0,)})
