import asyncio

import pytest
from tests.samples.simulated_campaign import REQUESTS, SimulatedLaboratory

from cutset.errors import HaltedError
from cutset.experiment.laboratory import halt_if_down
from cutset.model.fault import BASELINE
from cutset.model.outcome import Outcome, Verdict


class Lost(SimulatedLaboratory):
    async def recovered(self) -> bool:
        return False


@pytest.mark.parametrize(
    ("laboratory", "verdict", "dead", "halts"),
    [
        (Lost, Verdict.FAILED, (), False),
        (Lost, Verdict.FAILED, ("h:1",), True),
        (SimulatedLaboratory, Verdict.FAILED, ("h:1",), False),  # it came back
        (SimulatedLaboratory, Verdict.UNKNOWN, ("h:1",), True),  # it was waited for already
    ],
)
def test_a_server_that_stays_down_ends_everything(
    laboratory: type[SimulatedLaboratory], verdict: Verdict, dead: tuple[str, ...], *, halts: bool
) -> None:
    async def told() -> None:
        await halt_if_down(laboratory(), REQUESTS[0], Outcome(BASELINE, verdict, dead=dead))

    if not halts:
        asyncio.run(told())
        return
    with pytest.raises(HaltedError, match="h:1 stopped answering after an experiment on GET /") as caught:
        asyncio.run(told())
    assert "`--resume`" in caught.value.hint
