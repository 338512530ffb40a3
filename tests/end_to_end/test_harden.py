"""`cutset harden` on the boutique: explore, choose, apply to the running mesh, verify."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cutset.app.demo import run_boutique

CUTSET = [sys.executable, "-m", "cutset"]
KEY = "a key for tests"
CHOSEN = {"productcatalog/GetProduct", "cart/GetCart", "currency/GetSupportedCurrencies"}


def cutset(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"CUTSET_KEY": KEY}
    return subprocess.run(
        [*CUTSET, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=240, check=False
    )


def test_three_fallbacks_make_the_cuts_go_away_that_they_were_predicted_to(tmp_path: Path) -> None:
    """All but one: a stand-in cannot know what is in a cart that nobody has looked into yet."""
    (tmp_path / "wishes.yaml").write_text("apis: {cart/GetCart: {fallback: last-good-or-empty}}")
    with run_boutique(2, KEY.encode(), tmp_path) as boutique:  # one of its own: the mesh is changed
        config = ["-c", str(boutique.config_file)]
        assert cutset("explore", *config, cwd=tmp_path).returncode == 1
        wishes = ["--cost", "wishes.yaml", "--budget", "3", "--json"]
        result = cutset("harden", *config, *wishes, "--apply", "local", "--verify", cwd=tmp_path)
    assert result.returncode == 1, result.stderr
    document = json.loads(result.stdout)

    assert document["proven"]
    assert {site["name"] for site in document["sites"]} == CHOSEN
    added = [each.partition(":")[0] for each in document["applied"]["added"]]
    assert {"cart.fallback", "currency.fallback", "productcatalog.fallback"} <= set(added)

    verification = document["verification"]
    expected = (2 / 4 + 3 / 6 + 2 / 5 + 1 / 2 + 4 / 7 + 0 / 1) / 6
    assert document["afvr_predicted"] == verification["afvr_expected"] == pytest.approx(expected)
    surprises = [
        (cut["request"], cut["cut"])
        for cut in verification["cuts"]
        if cut["expected_gone"] == (cut["verdict"] in ("failed", "unknown"))
    ]
    assert surprises == [("POST /cart/checkout", ["cart/GetCart:abort(503)"])]
    assert verification["afvr"] == pytest.approx(expected + 1 / 7 / 6)

    assert verification["new_cuts"] == []
    deeper = {tuple(each["cut"]) for each in verification["grown_cuts"] if each["request"] == "POST /cart"}
    assert deeper == {("productcatalog-fallback/GetProduct:abort(503)", "productcatalog/GetProduct:abort(503)")}
    degraded = {(each["request"], *each["cut"]) for each in verification["new_degradations"]}
    assert ("GET /cart", "cart/GetCart:abort(503)") in degraded
    assert set(verification["before"]) == set(verification["after"])
