import asyncio
from pathlib import Path

from tests.samples.toy_language import log_of, toy_case, toy_search, toy_state

from cutset.model.reproduction.event import RoundFinished, RoundStage
from cutset.reproduce.explore import SINGLES_SHARE, explore, explore_elsewhere
from cutset.reproduce.prepare import prepare
from cutset.reproduce.state import ReproductionState

# `backup` fails for good only while `store` does: neither alone shows the failure.
TWO = """
store | cannot store | 2 store lost
backup | cannot back up | 2 backup lost
"""
TWO_LOG = log_of("store done", "backup done", "cannot store", "store lost", "cannot back up", "backup lost")


def explored(state: ReproductionState) -> list[RoundFinished]:
    async def consume() -> list[RoundFinished]:
        async for _ in prepare(state):
            pass
        return [event async for event in explore(state)]

    return asyncio.run(consume())


def test_the_search_ends_with_a_run_whose_log_is_like_the_failure_log(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path), tmp_path)
    (only,) = explored(state)
    assert state.reproductions == [only]
    assert only.fired is not None
    assert (only.fired.site.expression, only.fired.occurrence) == ("store", 3)


def test_a_run_whose_log_differs_does_not_end_the_search_at_once(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path, "log:cannot"), tmp_path, closer=2, second_fault=False)
    rounds = explored(state)
    assert rounds[0].reproduces
    first, last = state.reproductions[0].number, rounds[-1].number
    assert last - first <= 2 or any(found.unlike == 0 for found in state.reproductions)


def test_what_nothing_brings_about_is_given_up_when_the_budget_is_spent(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path, "log:never"), tmp_path, rounds=4, second_fault=False)
    assert [done.stage for done in explored(state)] == [RoundStage.SINGLE] * 4
    assert state.reproductions == []


def test_a_part_of_the_rounds_is_kept_for_a_second_fault_on_top_of_the_nearest(tmp_path: Path) -> None:
    both = "log:store lost and log:backup lost"
    state = toy_state(toy_case(tmp_path, both, program=TWO, log=TWO_LOG, turns=3), tmp_path, rounds=12)
    rounds = explored(state)
    singles = [done for done in rounds if done.stage is RoundStage.SINGLE]
    assert len(singles) <= round(12 * SINGLES_SHARE)
    (found,) = state.reproductions
    assert found.stage is RoundStage.SECOND
    assert {fault.site.expression for fault in found.faults} == {"store", "backup"}
    nearest = max(singles, key=lambda done: (len(done.shown), -done.number))
    assert nearest.fired is not None
    assert found.ground == (nearest.fired.at_site,)


def test_other_sites_are_looked_at_within_a_budget(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path), tmp_path)

    async def consume() -> list[RoundFinished]:
        async for _ in prepare(state):
            pass
        async for _ in explore(state):
            pass
        return [event async for event in explore_elsewhere(state, 3)]

    rounds = asyncio.run(consume())
    assert [done.stage for done in rounds] == [RoundStage.ELSEWHERE] * 3
    assert all(done.fired and done.fired.site.expression != "store" for done in rounds)


def test_a_search_that_goes_on_tries_what_the_uninterrupted_one_would_have(tmp_path: Path) -> None:
    case = toy_case(tmp_path, "log:never")
    whole = toy_search(case, tmp_path, rounds=6, second_fault=False)
    past = [event for event in whole if not isinstance(event, RoundFinished) or event.number <= 3]
    again = toy_search(case, tmp_path, past, rounds=6, second_fault=False)

    def fired(events: list[object]) -> list[object]:
        return [event.fired for event in events if isinstance(event, RoundFinished)]

    assert fired([*again]) == fired([*whole])
