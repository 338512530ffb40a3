"""What does not need services; `tests/end_to_end/test_harden.py` has the rest."""

from pathlib import Path

import pytest
from tests.samples.hardening import fill

from cutset.app.api.harden import harden_campaign
from cutset.errors import UsageError

CONFIG = "target: {url: 'http://127.0.0.1:1'}\nrequests: [{path: /}, {path: /pay, method: POST}]\n"


def test_what_to_harden_comes_back_with_advice(tmp_path: Path) -> None:
    found = harden_campaign(store=fill(tmp_path / "s"), config=tmp_path / "absent.yaml", budget=1)
    assert [site.candidate.name for site in found.sites] == ["cart/GetCart"]
    assert (found.campaign, found.decision.choice.proven, found.verification) == ("one", True, None)


def test_wishes_come_from_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "cutset.yaml").write_text(CONFIG + "harden: {apis: {cart/GetCart: {untouchable: true}}}\n")
    found = harden_campaign("one", tmp_path / "cutset.yaml", store=fill(tmp_path / "s"), budget=9)
    assert "cart/GetCart" not in {site.candidate.name for site in found.sites}


def test_what_cannot_be_tried_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cutset.yaml").write_text(CONFIG)
    store = fill(tmp_path / "s")
    monkeypatch.delenv("CUTSET_KEY", raising=False)
    with pytest.raises(UsageError, match="CUTSET_KEY"):
        harden_campaign(config=tmp_path / "cutset.yaml", store=store, verify=True)
    with pytest.raises(UsageError, match=r"There is no mesh\.yaml to change"):
        harden_campaign(config=tmp_path / "cutset.yaml", store=store, apply=True, key=b"x")
