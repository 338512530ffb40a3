import asyncio
from pathlib import Path

import pytest
from tests.samples.toy_language import toy_case, toy_state

from cutset.model.reproduction.event import RoundFinished
from cutset.model.reproduction.site import SiteFault
from cutset.reproduce.explore import explore
from cutset.reproduce.narrate import fired_fault, ranking_of, reproduction_of, summary_of
from cutset.reproduce.prepare import prepare
from cutset.reproduce.rounds.harness import Firing
from cutset.reproduce.state import ReproductionState


@pytest.fixture(name="state")
def fixture_state(tmp_path: Path) -> ReproductionState:
    """Of a search that has found the fault."""
    state = toy_state(toy_case(tmp_path), tmp_path)

    async def run() -> None:
        async for _ in prepare(state):
            pass
        async for _ in explore(state):
            pass

    asyncio.run(run())
    return state


def found(state: ReproductionState) -> RoundFinished:
    (only,) = state.reproductions
    return only


def test_a_case_is_summed_up_by_what_was_asked(state: ReproductionState) -> None:
    summary = summary_of(state.subject.case)
    assert (summary.oracle, summary.log_lines) == ("log:lost for good", 14)
    assert summary.command == state.subject.case.workload.command


def test_a_fault_that_fired_has_its_site_and_why_it_was_thought_of(state: ReproductionState) -> None:
    fault = fired_fault(state, Firing(SiteFault(2, 4, "fail()"), 9, 0, "MainThread", ("toy:3 in main",)))
    assert (fault.site.expression, fault.number, fault.why) == ("check", 2, "whatever is tried can fail")
    assert fault_without_reason(state) == ""


def fault_without_reason(state: ReproductionState) -> str:
    return fired_fault(state, Firing(SiteFault(2, 4, "never thought of"), 0, 0, "", ())).why


def test_a_ranking_is_in_words(state: ReproductionState) -> None:
    ranked = found(state).ranking[0]
    assert (ranked.site, ranked.next_fault) == ("toy::main::store", "fail() at occurrence 3")
    assert ranked.why == "1 steps to “cannot store”"
    assert ranking_of(state, state.explorer.next_rounds()[0])


def test_a_reproduction_explains_the_log(state: ReproductionState) -> None:
    told = reproduction_of(state, found(state))
    assert [(message.line, message.text, message.shown, message.absent) for message in told.messages] == [
        (8, "cannot store", True, False),
        (9, "lost for good", True, False),
    ]
    assert [step.text for step in told.messages[0].chain] == ["failure", "cannot store"]
    assert (told.repeats, told.repeated, told.unlike) == (0, 0, 0)
    assert told.faults[0].failure_line == 8


def test_faults_that_reach_the_same_handler_are_one_group(state: ReproductionState) -> None:
    group = reproduction_of(state, found(state)).group
    assert group == "it brings “cannot store”, “lost for good”"


def test_without_the_log_of_the_run_the_place_in_the_failure_log_is_not_known(state: ReproductionState) -> None:
    (found(state).folder / "run.log").unlink()
    told = reproduction_of(state, found(state))
    assert told.faults[0].failure_line is None
