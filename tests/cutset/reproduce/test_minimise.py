from pathlib import Path

from tests.samples.toy_language import log_of, toy_case, toy_search

from cutset.model.reproduction.event import ReproductionEvent, ReproductionFinished, RoundFinished, RoundStage
from cutset.model.reproduction.result import ReproductionResult

# Any `store` that fails shows the symptom; the failure log is of the fourth.
EARLIER = log_of(*(["fetch done", "store done"] * 3), "fetch done", "cannot store", "fetch done", "store done")
PROGRAM = "fetch | cannot fetch |\nstore | cannot store |\n"


def searched(tmp_path: Path, oracle: str, **case: object) -> tuple[list[RoundFinished], ReproductionResult]:
    events: list[ReproductionEvent] = toy_search(
        toy_case(tmp_path, oracle, **case),  # type: ignore[arg-type]
        tmp_path,
        minimise=True,
        rounds=30,
    )
    last = events[-1]
    assert isinstance(last, ReproductionFinished)
    simpler = [event for event in events if isinstance(event, RoundFinished) and event.stage is RoundStage.MINIMISE]
    return simpler, last.result


def test_the_earliest_occurrence_is_found_by_halving_and_tried_again(tmp_path: Path) -> None:
    simpler, result = searched(tmp_path, "log:cannot store", program=PROGRAM, log=EARLIER)
    assert result.best is not None
    assert result.best.faults[0].occurrence == 1
    assert (result.best.repeats, result.best.repeated) == (2, 2)
    assert result.first_found is not None
    assert result.first_found.faults[0].occurrence == 4
    assert [done.window[0].occurrence for done in simpler] == [1, 1]
    assert "the first occurrence shows the symptom" in result.remarks


def test_where_only_one_occurrence_shows_it_the_one_before_is_named(tmp_path: Path) -> None:
    simpler, result = searched(tmp_path, "log:lost for good")
    assert [done.window[0].occurrence for done in simpler] == [1, 2, 3]
    assert result.remarks == (
        "a plain mishap there shows the symptom, too: the type does not matter",
        "occurrence 2 does not show the symptom",
    )
    assert result.first_found == result.best


def test_other_sites_with_the_same_symptom_are_alternatives(tmp_path: Path) -> None:
    _, result = searched(tmp_path, "log:cannot", program=PROGRAM, log=EARLIER)
    assert result.best is not None
    assert result.best.faults[0].site.expression == "store"
    assert {other.faults[0].site.expression for other in result.alternatives} == {"fetch"}
