"""A real service with a circuit breaker that stays open, or closes again, and a request that was recorded of it."""

import sys
from pathlib import Path

from cutset.drill.settings import DrillSettings, Pace, Selection, ServiceUnderTest
from cutset.model.exchange import Exchange, Operation
from cutset.model.point import Point
from cutset.workload.recording.folder import open_recording

POINT = Point.parse("bank-client>rpc/aiohttp/POST /charges")
CHARGE = Exchange(
    id="1",
    service="bank-client",
    trace_id="",
    started_at=1.0,
    seconds=0.01,
    method="POST",
    path="/charges",
    request_headers=(("content-type", "application/json"),),
    request_body=b'{"charge_id": "s3cr3t", "cents": 4200}',
    status=201,
    operations=(Operation("rpc/aiohttp/POST /charges", 1, 1.0, 0.005, failed=False),),
)


def command(variant: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "cutset_demo.flaws", "stuck-circuit", "--variant", variant, "--port", "{port}")


def settings(variant: str, *faults: str, folder: Path = Path()) -> DrillSettings:
    # Few answers after the fault tell a broken service, a good one takes as many as the machine needs time for.
    patience = 0 if variant == "broken" else 20
    return DrillSettings(
        ServiceUnderTest(command(variant), ready_line="ready"),
        pace=Pace(startup=0.4, fault=0.4, recovery=1.2, patience=patience, rate=80),
        selection=Selection(faults=faults),
        recording=folder / "recording",
    )


def record_charge(folder: Path) -> None:
    with open_recording(folder / "recording") as recording:
        recording.append([CHARGE])
