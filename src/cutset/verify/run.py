"""Tries a hardening on the running system: times its calls, changes its mesh, and injects every known cut again.

FastFI §4.5.2 measures so (AFVR_b); here every event is recorded before it counts. Killed at any instant and resumed, it
repeats no recheck, and puts into the mesh what was announced, whether or not that was there already.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cutset.experiment.laboratory import halt_if_down
from cutset.harden.decision import Decision, expected_gone, settings_of
from cutset.inject.local.change import change_running_mesh, first_version
from cutset.manifests.mesh_file import MeshSettings, merge_settings
from cutset.model.finding import Finding
from cutset.model.hardening import (
    CallsObserved,
    CutRechecked,
    HardeningEvent,
    HardeningStarted,
    MeshChanged,
    MeshChanging,
)
from cutset.model.mesh import MeshService
from cutset.model.outcome import Verdict
from cutset.model.request import Request
from cutset.verify.observe import ObservingLaboratory, audit_all, observe

_Record = Callable[[HardeningEvent], None]
Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Undertaking:
    """What is to be done with the running system."""

    campaign: str
    requests: tuple[Request, ...]
    services: tuple[MeshService, ...] = ()  # of its mesh, as they are now
    change: Path | None = None  # the file of the mesh; None: it stays as it is
    recheck: bool = True
    parallel: int = 1


async def try_hardening(
    decision: Decision,
    wanted: Undertaking,
    laboratory: ObservingLaboratory,
    *,
    past: Sequence[HardeningEvent],
    record: _Record,
) -> AsyncGenerator[HardeningEvent, None]:
    """Goes on from the events of the past. Yields each event after it was recorded.

    What a good answer is, the laboratory learns before the mesh changes, unless that was before an interruption.
    """
    started, observed = _first(past, HardeningStarted), [each for each in past if isinstance(each, CallsObserved)]
    if started is None:
        started = HardeningStarted(campaign=wanted.campaign, services=wanted.services)
        record(started)
        yield started
    left = _left(decision.findings, past) if wanted.recheck else []
    if not left and (wanted.change is None or _first(past, MeshChanged) is not None):
        return
    announced = _first(past, MeshChanging)
    await audit_all(laboratory, wanted.requests, changed=announced.original if announced else None)
    named = {request.name: request for request in wanted.requests}
    cuts = [(named[finding.request], finding.cut) for finding in decision.findings] if wanted.recheck else []
    if not observed:
        observed = [await observe(laboratory, wanted.requests, cuts, parallel=wanted.parallel)]
        record(observed[0])
        yield observed[0]
    settings: MeshSettings | None = None
    if wanted.change is not None:
        settings, left_out = settings_of(decision, started.services, observed[0])
        async for event in _change(wanted.change, settings, left_out, past, record):
            yield event
        if wanted.recheck and len(observed) == 1:
            # Also gives the stand-in of a fallback something to remember.
            again = await observe(laboratory, wanted.requests, cuts, parallel=wanted.parallel)
            record(again)
            yield again
    gone = expected_gone(decision, started.services, settings)
    pending = [(named[finding.request], finding) for finding in left]
    async with aclosing(_recheck(pending, gone, laboratory, record, wanted.parallel)) as rechecks:
        async for recheck in rechecks:
            yield recheck


async def _change(
    file: Path, settings: MeshSettings, left_out: Sequence[str], past: Sequence[HardeningEvent], record: _Record
) -> AsyncGenerator[HardeningEvent, None]:
    announced, taken = _first(past, MeshChanging), _first(past, MeshChanged)
    if announced is None:
        announced = await asyncio.to_thread(_announcement, file, settings, left_out)
        record(announced)
        yield announced
    await asyncio.to_thread(_put, file, settings, awaited=bool(announced.added) and taken is None)
    if taken is None:
        taken = MeshChanged()
        record(taken)
        yield taken


def _announcement(file: Path, settings: MeshSettings, left_out: Sequence[str]) -> MeshChanging:
    merged, file = merge_settings(file.read_text(), settings), file.absolute()
    return MeshChanging(
        file=file, original=first_version(file), added=merged.added, kept=merged.kept, left_out=tuple(left_out)
    )


def _put(file: Path, settings: MeshSettings, *, awaited: bool) -> None:
    """Whatever an interruption left in the file, or somebody did since: what is missing there is put there."""
    merged = merge_settings(file.read_text(), settings)
    if merged.added or awaited:
        change_running_mesh(file, merged.text)


async def _recheck(
    cuts: Sequence[tuple[Request, Finding]],
    gone: frozenset[str],
    laboratory: ObservingLaboratory,
    record: _Record,
    parallel: int,
) -> AsyncGenerator[CutRechecked, None]:
    limit = asyncio.Semaphore(parallel)

    async def again(request: Request, finding: Finding) -> CutRechecked:
        async with limit:
            outcome = await laboratory.run(request, finding.cut)
            event = CutRechecked(request=request.name, outcome=outcome, expected_gone=finding.id in gone)
            if not outcome.dead or outcome.verdict is not Verdict.UNKNOWN:  # else it must be tried again
                record(event)  # here, not when somebody asks for it: until then we may be killed
            await halt_if_down(laboratory, request, outcome)
        return event

    tasks = [asyncio.ensure_future(again(*each)) for each in cuts]
    try:
        for done in asyncio.as_completed(tasks):
            yield await done
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _left(findings: Iterable[Finding], past: Sequence[HardeningEvent]) -> list[Finding]:
    rechecked = {event.finding.id for event in past if isinstance(event, CutRechecked)}
    return [finding for finding in findings if finding.id not in rechecked]


def _first(events: Iterable[HardeningEvent], kind: type[Kind]) -> Kind | None:
    return next((event for event in events if isinstance(event, kind)), None)
