import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.toy_language import toy_case, toy_state

from cutset.errors import UsageError
from cutset.model.reproduction.event import OracleAnswer, ReproductionEvent, RoundFinished, RoundStage
from cutset.model.reproduction.site import SiteFault
from cutset.reproduce.attempt import attempt, attempt_one
from cutset.reproduce.explorer import PlannedRound
from cutset.reproduce.prepare import prepare
from cutset.reproduce.state import ReproductionState

THIRD, FIRST = SiteFault(1, 3, "fail()"), SiteFault(1, 1, "fail()")


async def begun(state: ReproductionState) -> ReproductionState:
    async for _ in prepare(state):
        pass
    return state


def test_rounds_at_once_are_numbered_recorded_and_told_in_order(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path), tmp_path)
    recorded: list[ReproductionEvent] = []

    async def run() -> list[RoundFinished]:
        await begun(state)
        state.record = recorded.append
        return await attempt(state, RoundStage.SINGLE, [PlannedRound((FIRST,), 1), PlannedRound((THIRD,), 1)])

    first, third = asyncio.run(run())

    assert (first.number, third.number) == (1, 2)
    assert {id(event) for event in recorded} == {id(first), id(third)}
    assert sorted(state.tried, key=lambda done: done.number) == [first, third]
    assert (first.answer, first.missing) == (OracleAnswer.NO, ("lost for good",))
    assert (third.answer, third.missing, third.unlike) == (OracleAnswer.YES, (), 0)
    assert third.fired is not None
    assert third.fired.at_site == THIRD
    assert third.fired.why == "whatever is tried can fail"
    assert third.folder == tmp_path / "runs" / "round-0002"


def test_a_fault_is_tried_on_top_of_others(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path), tmp_path)

    async def run() -> RoundFinished:
        return await attempt_one(await begun(state), RoundStage.SECOND, THIRD, (SiteFault(0, 2, "fail()"),))

    done = asyncio.run(run())

    assert [fault.site.expression for fault in done.faults] == ["fetch", "store"]


def test_what_is_known_already_is_not_run_again(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path), tmp_path)

    async def run() -> tuple[RoundFinished, RoundFinished, RoundFinished]:
        done = await attempt_one(await begun(state), RoundStage.REPEAT, THIRD)
        state.tried, state.past = [], [done]
        again = await attempt_one(state, RoundStage.REPEAT, THIRD)
        fresh = await attempt_one(state, RoundStage.REPEAT, THIRD)
        return done, again, fresh

    done, again, fresh = asyncio.run(run())
    assert again is done
    assert (fresh.number, state.past) == (2, [])


def test_what_cannot_run_is_said_once_however_many_rounds_there_are(tmp_path: Path) -> None:
    state = toy_state(toy_case(tmp_path), tmp_path)

    async def run() -> None:
        await begun(state)
        state.workload = replace(state.workload, command=("/no/such/program",))
        await attempt(state, RoundStage.SINGLE, [PlannedRound((FIRST,), 1), PlannedRound((THIRD,), 1)])

    with pytest.raises(UsageError, match="does not start"):
        asyncio.run(run())
