import json
from pathlib import Path

from cutset.model.reproduction.site import SiteFault
from cutset.reproduce.rounds.firing import read_firing
from cutset.reproduce.rounds.harness import Firing
from cutset.reproduce.rounds.log_clock import LogMoment

TOLD = {"site": 3, "occurrence": 2, "effect": "hang()", "logged": 4, "printed": 90, "process": 1}
TOLD |= {"thread": "main", "stack": ["a.py:1 in f"], "within": "a.py:f", "nth": 1}
ARMED = SiteFault(3, 0, "hang()")


def lines_at(moment: LogMoment) -> int:
    return moment.logged


def test_what_did_not_fire_left_no_file(tmp_path: Path):
    assert read_firing(tmp_path / "fired.json", [ARMED], lines_at, []) is None


def test_the_circumstances_are_read_back(tmp_path: Path):
    (tmp_path / "fired.json").write_text(json.dumps(TOLD))
    problems: list[str] = []
    assert read_firing(tmp_path / "fired.json", [ARMED], lines_at, problems) == Firing(
        SiteFault(3, 2, "hang()"), 4, 1, "main", ("a.py:1 in f",), "a.py:f", 1
    )
    assert problems == []


def test_half_a_file_tells_which_fault_it_was_if_there_is_but_one(tmp_path: Path):
    (tmp_path / "fired.json").write_text(json.dumps(TOLD)[:40])
    problems: list[str] = []
    firing = read_firing(tmp_path / "fired.json", [ARMED], lines_at, problems)
    assert firing is not None
    assert firing.fault == ARMED
    counted = SiteFault(3, 2, "hang()", "a.py:f")
    assert read_firing(tmp_path / "fired.json", [counted], lines_at, []) == Firing(counted, 0, 0, "", (), "a.py:f", 2)
    assert read_firing(tmp_path / "fired.json", [ARMED, ARMED], lines_at, problems) is None
    assert len(problems) == 2
