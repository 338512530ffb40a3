"""Whether the fault of an incident is found from its log: the very place and moment, and within a few rounds."""

import asyncio
import sys
from pathlib import Path

import pytest
from tests.samples.incidents import EQUAL_CALLS, INCIDENTS, TYPES, Incident

from cutset.app.reproduce import plan_reproduction, reproduce
from cutset.config.case import CaseFile
from cutset.model.reproduction.event import ReproductionEvent, ReproductionFinished, RoundFinished
from cutset.model.reproduction.result import ReproductionResult


def events(folder: Path, incident: Incident, oracle: str = "") -> list[ReproductionEvent]:
    folder.mkdir(exist_ok=True)
    incident.write(folder)
    plan = plan_reproduction(
        CaseFile(
            run=f"{sys.executable} {folder / 'workload.py'}",
            source=(str(folder / "app.py"),),
            log=str(folder / "failure.log"),
            oracle=oracle or incident.oracle,
            env={"PYTHONPATH": str(folder)},
            timeout="10s",
            rounds=3 * incident.rounds,
        ),
        store=folder / "store",
    )

    async def consume() -> list[ReproductionEvent]:
        return [event async for event in reproduce(plan)]

    return asyncio.run(consume())


def search(folder: Path, incident: Incident, oracle: str = "") -> ReproductionResult:
    (result,) = [e.result for e in events(folder, incident, oracle) if isinstance(e, ReproductionFinished)]
    return result


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.name)
def test_the_place_and_the_moment_of_an_incident_are_found_in_few_rounds(incident: Incident, tmp_path: Path) -> None:
    result = search(tmp_path, incident)

    assert result.best is not None, result.summary
    (fault,) = result.best.faults
    assert (str(fault.site), fault.occurrence) == (incident.site, incident.occurrence)
    assert result.best.repeated == result.best.repeats > 0
    assert result.first_found is not None
    assert result.first_found.round <= incident.rounds


def test_the_same_case_is_searched_in_the_same_order(tmp_path: Path) -> None:
    orders = [
        [event.window for event in events(tmp_path / name, EQUAL_CALLS) if isinstance(event, RoundFinished)]
        for name in ("one", "other")
    ]
    assert orders[0] == orders[1]
    assert len(orders[0]) > 1


def test_what_no_fault_brings_about_is_blamed_on_none(tmp_path: Path) -> None:
    result = search(tmp_path, TYPES, oracle="log:on fire")
    assert (result.best, result.alternatives, result.first_found) == (None, (), None)
    assert result.rounds == 3 * TYPES.rounds
