import shutil
from pathlib import Path

import pytest

from cutset.app.api.reproduce import reproduce_failure
from cutset.errors import UsageError
from cutset.model.reproduction.event import ReproductionEvent, RoundFinished

EXAMPLE = Path(__file__).parents[4] / "examples" / "reproduce"


def test_the_fault_behind_the_example_comes_back(tmp_path: Path) -> None:
    case = Path(shutil.copytree(EXAMPLE, tmp_path / "example")) / "case.yaml"
    told: list[ReproductionEvent] = []

    result = reproduce_failure(case, store=tmp_path / "store", on_event=told.append)

    assert result.best is not None
    assert result.best.faults[0].site.path.endswith("outbox/__init__.py")
    assert any(isinstance(event, RoundFinished) for event in told)


def test_a_case_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Cannot read"):
        reproduce_failure(tmp_path / "case.yaml", store=tmp_path)
