"""Whether drills find the bugs that were planted, by the symptom that the answer key names, and nothing beside them.

Of the recording they know the requests alone, as from a HAR file: what each calls, the service is asked. These services
have short time limits: the tests run alone (see `make test`).
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from benchmarks.drill import data_stores, drilled, planted

from cutset.drill.settings import Pace, Selection
from cutset.model.drill import DrillVerdict, ServiceStarted, results_of
from cutset.model.exchange import Exchange
from cutset.workload.recording.folder import open_recording

PLANTED = {flaw["name"]: flaw for flaw in planted()}


class Bug(NamedTuple):
    name: str
    only: str
    fault: str
    symptom: str


BUGS = [  # one of each kind that shows within seconds
    Bug("stuck-circuit", "rpc/", "status-503", "no-recovery"),
    Bug("wrong-fallback", "rpc/", "connection-refused", "wrong-data"),
    Bug("doubled-write", "db/psycopg/", "lost-answer", "duplicate"),
    Bug("cache-takes-down", "cache/redis/get", "connection-refused", "not-survived"),
    Bug("swallowed-publish", "mq/", "broker-unavailable", "silent-loss"),
]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    folder = tmp_path_factory.mktemp("stores")
    folder.chmod(0o755)
    with data_stores(folder) as addresses:
        yield addresses


def record_requests(folder: Path, name: str) -> None:
    """Twice, so that what differs from flow to flow is known to vary."""
    with open_recording(folder / "recording") as recording:
        for visit in ("a1b2c3d4", "e5f6a7b8"):
            recording.append(
                [
                    Exchange(
                        id=f"{visit}-{number}",
                        service=name,
                        trace_id="",
                        started_at=100.0 * int(visit, 16) / 2**32 + number / 100,
                        seconds=0.01,
                        method=step["method"],
                        path=step["path"].replace("{unique}", visit),
                        request_headers=(("content-type", "application/json"), ("cookie", f"visit={visit}")),
                        request_body=json.dumps(step.get("json", {})).replace("{unique}", visit).encode(),
                        status=step["status"],
                    )
                    for number, step in enumerate(PLANTED[name]["requests"])
                ]
            )


@pytest.mark.parametrize("variant", ["broken", "correct"])
@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_a_planted_bug_is_found_by_its_symptom_alone_and_its_look_alike_passes(
    tmp_path: Path, stores: Mapping[str, str], bug: Bug, variant: str
) -> None:
    flaw = PLANTED[bug.name]
    record_requests(tmp_path, bug.name)
    # Nobody waits for a broken service to recover; a good one gets the time that a busy machine takes from it.
    pace = Pace(startup=1.5, fault=1.5, recovery=2.0, patience=0.0 if variant == "broken" else 15.0)
    selection = Selection(only=(bug.only,), faults=(bug.fault,))

    events = asyncio.run(drilled(flaw, variant, stores, tmp_path, pace=pace, selection=selection))

    results = results_of(events)
    told = [(str(result.test), result.judgement.reason) for result in results]
    symptoms = {finding.symptom.value for result in results for finding in result.judgement.findings}
    assert bug.symptom in flaw["symptoms"]
    assert results
    if variant == "broken":
        assert symptoms == {bug.symptom}, told
    else:
        assert {result.judgement.verdict for result in results} == {DrillVerdict.PASSED}, told
        assert sum(isinstance(event, ServiceStarted) for event in events) == 1
