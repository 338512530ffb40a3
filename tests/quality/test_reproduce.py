"""Whether the fault of an incident is found from its log: the very place and moment, and within a few rounds."""

import asyncio
import sys
from pathlib import Path

import pytest
from tests.samples.incidents import INCIDENTS, Incident

from cutset.app.reproduce import plan_reproduction, reproduce
from cutset.config.case import CaseFile
from cutset.model.reproduction.event import ReproductionFinished
from cutset.model.reproduction.result import ReproductionResult


def search(folder: Path, incident: Incident) -> ReproductionResult:
    incident.write(folder)
    plan = plan_reproduction(
        CaseFile(
            run=f"{sys.executable} {folder / 'workload.py'}",
            source=(str(folder / "app.py"),),
            log=str(folder / "failure.log"),
            oracle=incident.oracle,
            env={"PYTHONPATH": str(folder)},
            timeout="10s",
            rounds=3 * incident.rounds,
        ),
        store=folder / "store",
    )

    async def last() -> ReproductionResult:
        return [event.result async for event in reproduce(plan) if isinstance(event, ReproductionFinished)][-1]

    return asyncio.run(last())


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.name)
def test_the_place_and_the_moment_of_an_incident_are_found_in_few_rounds(incident: Incident, tmp_path: Path) -> None:
    result = search(tmp_path, incident)

    assert result.best is not None, result.summary
    (fault,) = result.best.faults
    assert (str(fault.site), fault.occurrence) == (incident.site, incident.occurrence)
    assert result.best.repeated == result.best.repeats > 0
    assert result.first_found is not None
    assert result.first_found.round <= incident.rounds
