from pathlib import Path

import pytest
from tests.samples.recorded_campaign import KEY, forged, recorded_campaign, rows_of

from cutset.app.check import check_campaign, exit_code, require
from cutset.errors import RefutedError
from cutset.inject.ecdsa import new_private_key
from cutset.inject.signing import seal_of


def test_a_campaign_is_checked_by_store_and_id(tmp_path: Path) -> None:
    recorded_campaign(tmp_path)
    told: list[str] = []

    checked = check_campaign(tmp_path, "only", key=KEY, tell=told.append)

    assert exit_code(checked) == 0
    assert told == ["GET /", "POST /checkout"]
    require(checked)


def test_a_campaign_that_was_sealed_by_a_private_key_needs_that_key(tmp_path: Path) -> None:
    key = new_private_key()
    recorded_campaign(tmp_path, seal_of(key))

    assert check_campaign(tmp_path, "only", key=key.strip()).sealed
    assert not check_campaign(tmp_path, "only", key=new_private_key()).sealed


def test_a_claim_that_does_not_hold_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    ledger = recorded_campaign(tmp_path / "one")
    kept = [row for row in rows_of(ledger) if "payment" in row[2] or row[1] != "ExperimentFinished"]

    (tmp_path / "two").mkdir()
    forged(ledger, tmp_path / "two", kept)
    checked = check_campaign(tmp_path / "two")

    assert exit_code(checked) == 5
    with pytest.raises(RefutedError, match="does not follow from its record: GET /: said to be exact") as raised:
        require(checked)
    assert "This is a mistake in Cutset, not of yours" in raised.value.hint


def test_what_is_interrupted_could_not_be_told(tmp_path: Path) -> None:
    ledger = recorded_campaign(tmp_path / "one")
    (tmp_path / "two").mkdir()
    forged(ledger, tmp_path / "two", rows_of(ledger)[:-1])

    assert exit_code(check_campaign(tmp_path / "two")) == 3
