from pathlib import Path

from tests.samples.toy_language import log_of, toy_case, toy_search

from cutset.model.reproduction.event import ReproductionEvent, ReproductionFinished, RoundFinished, RoundStage
from cutset.model.reproduction.result import ReproductionResult

# The second `store` is lost for good as well as the third: the failure log tells which it was.
PROGRAM = """
fetch | cannot fetch | 2 lost
store | cannot store | 3 lost
"""
LOG = log_of("fetch done", "store done", "fetch done", "store done", "fetch done", "cannot store", "lost", "fetch done")


def rounds(events: list[ReproductionEvent], stage: RoundStage) -> list[RoundFinished]:
    return [event for event in events if isinstance(event, RoundFinished) and event.stage is stage]


def result(events: list[ReproductionEvent]) -> ReproductionResult:
    last = events[-1]
    assert isinstance(last, ReproductionFinished)
    return last.result


def test_what_was_found_is_tried_again_as_often_as_asked_for(tmp_path: Path) -> None:
    events = toy_search(toy_case(tmp_path), tmp_path, repeats=3, jobs=2)
    again = rounds(events, RoundStage.REPEAT)
    assert len(again) == 3
    assert len({done.window for done in again}) == 1
    best = result(events).best
    assert best is not None
    assert (best.repeats, best.repeated) == (3, 3)


def test_of_several_the_one_with_the_most_similar_log_is_the_best(tmp_path: Path) -> None:
    events = toy_search(toy_case(tmp_path, "log:lost", program=PROGRAM, log=LOG, turns=4), tmp_path, closer=20)
    found = result(events)
    assert found.best is not None
    assert (found.best.faults[0].site.expression, found.best.unlike) == ("store", 0)
    assert all(other.unlike >= found.best.unlike for other in found.alternatives)


def test_an_oracle_that_asks_for_the_injected_fault_itself_is_remarked_on(tmp_path: Path) -> None:
    events = toy_search(toy_case(tmp_path, "log:lost and not log:fail"), tmp_path)
    assert result(events).remarks == ()
    events = toy_search(toy_case(tmp_path, "log:lost and (log:for good or log:fail)"), tmp_path / "other")
    assert result(events).remarks == (
        "the oracle asks for `fail`, which is what was injected: the cause may be deeper",
    )


def test_a_first_fault_that_is_not_needed_is_left_out(tmp_path: Path) -> None:
    program = "fetch | cannot fetch |\nstore | cannot store | 3 lost\n"
    log = log_of("fetch done", "store done", "cannot fetch", "store done", "fetch done", "cannot store", "lost")
    # No single is tried at the right time within one round, so that the second comes on top of another.
    case = toy_case(tmp_path, "log:lost", program=program, log=log, turns=4)
    events = toy_search(case, tmp_path, rounds=14)
    best = result(events).best
    assert best is not None
    assert [fault.site.expression for fault in best.faults] == ["store"]
