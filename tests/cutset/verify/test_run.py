"""Hardenings that are interrupted, on a simulated shop; on a real one they are in `end_to_end/test_harden.py`."""

import asyncio
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from tests.samples import simulated_hardening
from tests.samples.simulated_hardening import (
    CUTS,
    FINDINGS,
    MESH,
    SERVICES,
    HardenableLaboratory,
    decision,
    everything,
    followed,
    go_on,
    undertaking,
)

from cutset.errors import HaltedError, TargetError
from cutset.model.fault import Cut
from cutset.model.hardening import (
    CallsObserved,
    CutRechecked,
    HardeningEvent,
    HardeningStarted,
    HealthJudged,
    MeshChanged,
    MeshChanging,
    MeshRestored,
)
from cutset.model.mesh import MeshSpec
from cutset.model.outcome import Outcome, Verdict
from cutset.model.request import Request
from cutset.store.ledger import open_ledger
from cutset.store.runs import hardening_events
from cutset.verify.local import FilePlace
from cutset.verify.run import try_hardening

CHANGE = [HardeningStarted, CallsObserved, MeshChanging, MeshChanged, HealthJudged]
KINDS = [*CHANGE, CallsObserved, *[CutRechecked] * len(FINDINGS), HealthJudged]
ADDED = ("cart.fallback", "ad.fallback")


class KilledError(Exception):
    pass


@pytest.fixture
def taken() -> list[MeshSpec]:
    return []


@pytest.fixture
def file(tmp_path: Path, taken: list[MeshSpec]) -> Iterator[Path]:
    with followed(tmp_path, taken) as path:
        yield path


def recorded(store: Path) -> list[HardeningEvent]:
    with open_ledger(store) as ledger:
        return hardening_events(ledger, "only")


def rechecks(events: list[HardeningEvent]) -> dict[tuple[str, str], tuple[bool, bool]]:
    """Whether each remains, and was expected to be gone."""
    return {
        (event.request, str(next(iter(event.outcome.cut)).point)): (event.remains, event.expected_gone)
        for event in events
        if isinstance(event, CutRechecked)
    }


WHOLE = {
    (request, point): (point == "payment/Charge", point != "payment/Charge")
    for request, points in CUTS.items()
    for point in points
}


def test_calls_are_timed_the_mesh_is_changed_and_every_cut_injected_again(
    file: Path, taken: list[MeshSpec], tmp_path: Path
) -> None:
    events = go_on(tmp_path, undertaking(file), HardenableLaboratory(file))

    assert [type(event) for event in events] == KINDS
    assert events == recorded(tmp_path)
    assert events[0] == HardeningStarted(campaign="one", services=SERVICES)
    changing = events[2]
    assert isinstance(changing, MeshChanging)
    assert all(any(line.startswith(name) for line in changing.added) for name in ADDED)
    assert changing.original is not None
    assert (changing.file, changing.original.read_text()) == (file, MESH)
    assert len(taken) == 1
    assert rechecks(events) == WHOLE


def test_without_a_change_all_that_was_chosen_is_expected_to_be_gone(file: Path, tmp_path: Path) -> None:
    events = go_on(tmp_path, undertaking(None), HardenableLaboratory(file))
    assert [type(event) for event in events] == [HardeningStarted, CallsObserved, *[CutRechecked] * len(FINDINGS)]
    assert all(remains for remains, _ in rechecks(events).values())
    assert {gone for (_, point), (_, gone) in rechecks(events).items() if point != "payment/Charge"} == {True}
    assert file.read_text() == MESH


def test_a_change_alone_rechecks_nothing(file: Path, tmp_path: Path) -> None:
    laboratory = HardenableLaboratory(file)
    events = go_on(tmp_path, undertaking(file, recheck=False), laboratory)
    assert [type(event) for event in events] == CHANGE
    assert laboratory.ran == []
    assert go_on(tmp_path, undertaking(file, recheck=False), laboratory) == []


def test_where_nothing_is_to_be_added_the_mesh_is_left_alone(file: Path, taken: list[MeshSpec], tmp_path: Path) -> None:
    go_on(tmp_path / "first", undertaking(file), HardenableLaboratory(file))
    events = go_on(tmp_path / "second", undertaking(file), HardenableLaboratory(file))
    changing = events[2]
    assert isinstance(changing, MeshChanging)
    assert (changing.added, len(taken)) == ((), 1)
    assert rechecks(events) == WHOLE


def test_a_request_that_is_ill_is_told_before_anything_is_changed(file: Path, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="`GET /cart` does not work even without faults: 500"):
        go_on(tmp_path, undertaking(file), HardenableLaboratory(file, unhealthy="GET /cart"))
    assert file.read_text() == MESH


def test_what_breaks_a_request_is_rolled_back_and_that_is_the_end(file: Path, tmp_path: Path) -> None:
    events = go_on(tmp_path, undertaking(file), HardenableLaboratory(file, breaks="GET /cart"))
    restored = events[-1]
    assert isinstance(restored, MeshRestored)
    assert restored.why == "what worked before does not: `GET /cart` 10 of 10 times: 503"
    assert (restored.interrupted, restored.problem, restored.still) == (False, "", {})
    assert file.read_text() == MESH
    assert [type(event) for event in recorded(tmp_path)] == [*CHANGE, MeshRestored]
    assert go_on(tmp_path, undertaking(file), HardenableLaboratory(file)) == []


def test_a_request_that_is_ill_when_it_is_resumed_after_the_change_is_cured_by_taking_it_back(
    file: Path, tmp_path: Path
) -> None:
    go_on(tmp_path, undertaking(file, recheck=False), HardenableLaboratory(file))
    events = go_on(tmp_path, undertaking(file), HardenableLaboratory(file, unhealthy="GET /cart"))
    restored = events[-1]
    assert isinstance(restored, MeshRestored)
    assert "`GET /cart` does not work even without faults: 500" in restored.why
    assert list(restored.still) == ["GET /cart"]  # it was not the change
    assert file.read_text() == MESH


def test_what_is_not_valid_is_not_applied(file: Path, tmp_path: Path) -> None:
    place = FilePlace(file, refused=lambda text: "" if text == MESH else "no such field")
    wanted = replace(undertaking(file), place=place)
    with pytest.raises(TargetError, match="nothing was changed: no such field"):
        go_on(tmp_path, wanted, HardenableLaboratory(file))
    assert [type(event) for event in recorded(tmp_path)] == CHANGE[:2]
    assert not file.with_name("mesh.yaml.before").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError, RuntimeError])
@pytest.mark.parametrize("at", ["audit", "observe", "still_works", "run"])
def test_whatever_happens_in_the_middle_the_mesh_is_as_it_was_and_resuming_applies_anew(
    file: Path, tmp_path: Path, error: type[BaseException], at: str
) -> None:
    laboratory = HardenableLaboratory(file)
    works = getattr(laboratory, at)

    async def strikes(*arguments: object) -> object:
        if at == "audit" or await asyncio.to_thread(file.read_text) != MESH:
            raise error
        return await works(*arguments)

    setattr(laboratory, at, strikes)
    with pytest.raises(error):
        go_on(tmp_path, undertaking(file), laboratory)
    assert file.read_text() == MESH
    if at != "audit":
        last = recorded(tmp_path)[-1]
        assert isinstance(last, MeshRestored)
        assert last.interrupted
    go_on(tmp_path, undertaking(file), HardenableLaboratory(file))
    assert rechecks(recorded(tmp_path)) == WHOLE
    assert file.read_text() != MESH


def test_who_stops_listening_gets_the_mesh_back(file: Path, tmp_path: Path) -> None:
    async def listen() -> None:
        events = try_hardening(
            decision(), undertaking(file), HardenableLaboratory(file), past=(), record=lambda _: None
        )
        async for event in events:
            if isinstance(event, CutRechecked):
                await events.aclose()

    asyncio.run(listen())
    assert file.read_text() == MESH


@pytest.mark.parametrize("verdict", [Verdict.UNKNOWN, Verdict.FAILED])
def test_a_server_that_stays_down_halts_it_and_what_nobody_could_tell_is_tried_again(
    file: Path, tmp_path: Path, verdict: Verdict
) -> None:
    class Deadly(HardenableLaboratory):
        async def run(self, request: Request, cut: Cut, *, share: float = 0.0) -> Outcome:
            return replace(await super().run(request, cut), verdict=verdict, dead=("h:1",))

        async def recovered(self) -> bool:
            return False

    with pytest.raises(HaltedError):
        go_on(tmp_path, undertaking(file, parallel=1), Deadly(file))
    assert len(rechecks(recorded(tmp_path))) == (verdict is Verdict.FAILED)
    go_on(tmp_path, undertaking(file), HardenableLaboratory(file))
    assert rechecks(recorded(tmp_path)).keys() == WHOLE.keys()


@pytest.mark.parametrize("writes_last", [True, False])
@pytest.mark.parametrize("dies_at", range(1, len(KINDS) + 1))
def test_killed_at_any_event_and_resumed_nothing_is_lost_or_repeated(
    file: Path, taken: list[MeshSpec], monkeypatch: pytest.MonkeyPatch, *, dies_at: int, writes_last: bool
) -> None:
    written: list[HardeningEvent] = []

    def record(event: HardeningEvent) -> None:
        if isinstance(event, MeshRestored):  # who is killed takes nothing back, and records nothing
            raise KilledError
        if len(written) + 1 < dies_at or writes_last:
            written.append(event)
        if len(written) + (not writes_last) >= dies_at:
            raise KilledError

    async def nothing(*_: object) -> str:
        return ""

    monkeypatch.setattr("cutset.verify.run.surely_take_back", nothing)

    def run(recorder: Callable[[HardeningEvent], None]) -> HardenableLaboratory:
        laboratory, wanted = HardenableLaboratory(file), undertaking(file, parallel=1)
        events = try_hardening(decision(), wanted, laboratory, past=tuple(written), record=recorder)
        asyncio.run(everything(events))
        return laboratory

    with pytest.raises(KilledError):
        run(record)
    before = list(written)
    laboratory = run(written.append)

    assert written[: len(before)] == before
    assert [type(event) for event in written] == KINDS
    assert rechecks(written) == WHOLE
    assert len(laboratory.ran) == len(FINDINGS) - sum(isinstance(event, CutRechecked) for event in before)
    assert len(taken) == 1
    again = run(written.append)
    assert (again.ran, again.audited, len(written)) == ([], [], len(KINDS))


def test_what_somebody_undid_meanwhile_is_put_there_again(file: Path, taken: list[MeshSpec], tmp_path: Path) -> None:
    with open_ledger(tmp_path) as ledger:
        for event in go_on(tmp_path / "other", undertaking(file), HardenableLaboratory(file)):
            if not isinstance(event, CutRechecked):
                ledger.append("only", event)
    shutil.copy(file.with_name("mesh.yaml.before"), file)
    while len(taken) < 2:
        time.sleep(0.01)

    events = go_on(tmp_path, undertaking(file), HardenableLaboratory(file))

    assert rechecks(events) == WHOLE
    assert len(taken) == 3


def test_a_hardening_killed_many_times_repeats_nothing_and_can_be_undone(
    file: Path, taken: list[MeshSpec], tmp_path: Path
) -> None:
    random_delays = random.Random(7)
    command = [sys.executable, simulated_hardening.__file__, tmp_path, file]
    kills = 0
    while Counter(map(type, recorded(tmp_path)))[CutRechecked] < len(FINDINGS):
        before = len(recorded(tmp_path))
        with subprocess.Popen(command) as process:
            # Strike at some moment after the next event, wherever that is: in a write, in a change, in between.
            while process.poll() is None and len(recorded(tmp_path)) <= before:
                time.sleep(0.001)
            time.sleep(random_delays.uniform(0, 0.1))
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
        assert process.returncode in (0, -signal.SIGKILL)  # it does not die by itself, and be started for ever
        assert yaml.safe_load(file.read_text())["entry"] == "web"  # never half a file
        original = file.with_name("mesh.yaml.before")
        assert not original.exists() or original.read_text() == MESH

    assert kills >= 5
    assert [type(event) for event in recorded(tmp_path)] == KINDS
    assert rechecks(recorded(tmp_path)) == WHOLE
    assert len(taken) == 1
    shutil.copy(original, file)
    while len(taken) < 2:
        time.sleep(0.01)
    assert not any(service.fallback for service in taken[1].services)
