import asyncio
from pathlib import Path

from tests.samples.toy_language import log_of, toy_case, toy_state

from cutset.model.reproduction.event import RoundFinished, RoundStage
from cutset.reproduce.closer import PATIENCE_MESSAGES, come_closer
from cutset.reproduce.explore import explore
from cutset.reproduce.prepare import prepare
from cutset.reproduce.state import ReproductionState

# Whichever fails at its second try is lost for good: the failure log tells which it was.
EITHER = """
fetch | cannot go on | 2 lost
store | cannot go on | 2 lost
check | cannot go on | 3 lost
"""
STORE_WAS_LOST = log_of(
    *("fetch done", "store done", "check done"),
    *("fetch done", "cannot go on", "lost", "check done"),
    *(["fetch done", "check done"] * 2),
)


def closer(state: ReproductionState) -> list[RoundFinished]:
    async def consume() -> list[RoundFinished]:
        async for _ in prepare(state):
            pass
        async for _ in explore(state):
            pass
        return [event async for event in come_closer(state)]

    return asyncio.run(consume())


def test_other_sites_and_other_moments_are_tried_by_turns(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path, "log:cannot"), tmp_path, closer=4, second_fault=False)
    rounds = closer(state)
    first = state.reproductions[0].fired
    assert first is not None
    assert all(done.stage is RoundStage.CLOSER for done in rounds)
    sites = [done.fired.number == first.number for done in rounds if done.fired]
    assert sites[:4] == [True, False, True, False]


def test_the_search_goes_on_until_nothing_explains_the_log_better(tmp_path: Path) -> None:
    case = toy_case(tmp_path, "log:lost", program=EITHER, log=STORE_WAS_LOST, turns=4)
    state = toy_state(case, tmp_path, closer=6, second_fault=False)
    rounds = closer(state)
    best = min(state.reproductions, key=state.likeness)
    assert best.fired is not None
    assert (best.fired.site.expression, best.fired.occurrence, best.unlike) == ("store", 2, 0)
    improved = best.number if best in rounds else state.reproductions[0].number
    assert rounds[-1].number - improved == 6


def test_it_is_more_patient_while_the_log_differs(tmp_path: Path) -> None:
    log = STORE_WAS_LOST + log_of("cannot check")  # nothing brings both
    program = EITHER.replace("check | cannot go on", "check | cannot check")
    state = toy_state(
        toy_case(tmp_path, "log:lost", program=program, log=log, turns=8), tmp_path, closer=3, second_fault=False
    )
    rounds = closer(state)
    best = min(state.reproductions, key=state.likeness)
    assert best.unlike
    last_success = max(best.number, state.reproductions[0].number)
    assert rounds[-1].number - last_success == 3 * PATIENCE_MESSAGES


def test_no_more_rounds_than_the_search_has(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path, "log:cannot"), tmp_path, rounds=3, closer=10, second_fault=False)
    closer(state)
    assert len(state.tried) == 3
