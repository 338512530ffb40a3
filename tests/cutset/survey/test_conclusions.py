from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.surveyed_shop import surveyed_shop

from cutset.app.survey import find_workflows, rank_apis, service_graph
from cutset.model.survey import Survey
from cutset.survey.conclusions import concluded_from

SHOP = surveyed_shop()


def never() -> int:
    raise AssertionError


def test_what_was_concluded_from_the_same_traces_is_not_worked_out_again(tmp_path: Path) -> None:
    survey = Survey(kept=(tmp_path, "key"))
    assert concluded_from(survey, int, ("how many",), lambda: 7) == 7
    assert concluded_from(survey, int, ("how many",), never) == 7
    assert concluded_from(survey, int, ("how few",), lambda: 2) == 2
    assert concluded_from(Survey(kept=(tmp_path, "another")), int, ("how many",), lambda: 3) == 3
    assert concluded_from(Survey(), int, ("how many",), lambda: 4) == 4


@pytest.mark.parametrize("ask", [rank_apis, find_workflows, service_graph])
def test_conclusions_come_back_as_they_were(tmp_path: Path, ask) -> None:
    kept = replace(SHOP, kept=(tmp_path, "shop"))
    assert ask(kept) == ask(kept) == ask(SHOP)
    files = {file.name for file in (tmp_path / "cache").iterdir()}
    assert files
    ask(kept)
    assert {file.name for file in (tmp_path / "cache").iterdir()} == files


def test_what_is_damaged_is_concluded_again(tmp_path: Path) -> None:
    kept = replace(SHOP, kept=(tmp_path, "shop"))
    found = find_workflows(kept)
    for file in (tmp_path / "cache").iterdir():
        file.write_bytes(b"?")
    assert find_workflows(kept) == found
