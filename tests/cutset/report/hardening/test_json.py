import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.samples.hardening_result import DECIDED, ODDS, TRIED, VERIFICATION

from cutset.report.hardening.json import to_document


def document(*arguments: Any) -> Any:
    return json.loads(json.dumps(to_document(*arguments), allow_nan=False))


def test_machines_get_all_of_it() -> None:
    found = document(TRIED, [Path("a.yaml")])
    assert found["afvr_predicted"] == 0.5
    assert found["verification"]["afvr"] == 0.5
    assert found["verification"]["classes"] == [{"request": "GET /[x]", "before": 2, "afvr": 0.5, "afvr_expected": 0.0}]
    assert [each["verdict"] for each in found["verification"]["cuts"]] == ["degraded", "failed"]
    before = found["verification"]["before"]["GET /[x]"]
    assert (before["seconds"], before["calls"], before["calls_with_faults"]) == (0.1, 10, 5)
    assert found["sites"][0]["remedies"][0]["risks"]
    assert found["written"] == ["a.yaml"]
    assert found["applied"]["undo"] == "cp /shop/mesh.yaml.before /shop/mesh.yaml"


def test_what_was_found_afterwards_can_be_replayed() -> None:
    verification = document(TRIED)["verification"]
    (new,), (grown,) = verification["new_cuts"], verification["grown_cuts"]
    assert new["replay"] == f"cutset explore --replay {VERIFICATION.new_cuts[0].id}"
    assert grown["replay"].endswith(grown["id"])
    assert "replay" not in verification["new_degradations"][0]  # nothing fails


def test_what_matters_most_is_told_in_numbers_with_what_they_rest_on() -> None:
    found = document(TRIED)
    assert found["failed_per_day"] == {
        "before": 20,
        "before_between": [12, 31],
        "after": 5,
        "after_between": [3, 9],
    }
    assert found["traffic_from"] == {"GET /[x]": "1,000 seen in 24 h"}
    assert found["failure_rates"]["ad/GetAds"]["calls"] == {"total": 1000, "failed": 5}
    assert found["importances"][0] == {
        "name": "cart/GetCart",
        "saved_per_day": 15,
        "share_of_failures": pytest.approx(0.75),
        "failed_per_day_if_always_down": 900,
    }
    assert found["importances_in_part"] == []
    in_part = replace(ODDS, importances=replace(ODDS.importances, in_part=("GET /[x]",)))
    assert document(replace(DECIDED, odds=in_part))["importances_in_part"] == ["GET /[x]"]


def test_what_was_not_done_is_not_there() -> None:
    assert not document(DECIDED).keys() & {"applied", "verification", "failed_per_day", "importances"}
