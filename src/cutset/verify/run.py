"""Tries a hardening on the running system: times its calls, changes its mesh, and injects every known cut again.

FastFI §4.5.2 measures so (AFVR_b); here every event is recorded before it counts. Killed at any instant and resumed, it
repeats no recheck, and puts into the mesh what was announced, whether or not that was there already.

What worked before must work afterwards: else, and when anything goes wrong in the middle, the change is taken back.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TypeVar

from cutset.errors import CutsetError, TargetError
from cutset.experiment.laboratory import halt_if_down
from cutset.harden.decision import Decision, expected_gone
from cutset.model.finding import Finding
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
from cutset.model.mesh import MeshService
from cutset.model.outcome import Verdict
from cutset.model.request import Request
from cutset.verify.apply import (
    HardeningRecorder,
    apply_change,
    change_in_force,
    surely_take_back,
    was_taken_back,
)
from cutset.verify.health import RUNS, ill_requests, in_words
from cutset.verify.observe import ObservingLaboratory, audit_all, observe
from cutset.verify.place import ChangeablePlace, Prospect

Kind = TypeVar("Kind")
SETTLING_ROUNDS = 3  # of all requests, after which what was taken back is so everywhere: one may be too early


@dataclass(frozen=True, slots=True)
class Undertaking:
    """What is to be done with the running system."""

    campaign: str
    requests: tuple[Request, ...]
    services: tuple[MeshService, ...] = ()  # of its mesh, as they are now
    place: ChangeablePlace | None = None  # what to change; None: it stays as it is
    recheck: bool = True
    parallel: int = 1


class _IllError(Exception):
    """What worked before does not."""


async def try_hardening(
    decision: Decision,
    wanted: Undertaking,
    laboratory: ObservingLaboratory,
    *,
    past: Sequence[HardeningEvent],
    record: HardeningRecorder,
) -> AsyncGenerator[HardeningEvent, None]:
    """Goes on from the events of the past. Yields each event after it was recorded.

    What a good answer is, the laboratory learns before the mesh changes, unless that was before an interruption.
    """
    known = list(past)
    # What the mesh may hold of ours: to be taken back, whatever happens.
    ours = change_in_force(past)

    def note(event: HardeningEvent) -> None:
        nonlocal ours
        known.append(event)
        if isinstance(event, MeshChanging | MeshChanged):
            ours = change_in_force(known)
        record(event)

    try:
        async with aclosing(_tried(decision, wanted, laboratory, tuple(past), note)) as events:
            async for event in events:
                yield event
    except _IllError as ill:
        if ours is None or wanted.place is None:  # nothing was to be added, so that it is not our fault
            raise TargetError(str(ill), hint="Nothing was changed") from ill
        problem = await surely_take_back(wanted.place, ours)
        restored = MeshRestored(why=str(ill), problem=problem, still=await _still_ill(laboratory, wanted.requests))
        note(restored)
        yield restored
    except BaseException as error:
        # Without waiting for anything but the mesh: whoever wants us to end should not have to say it twice.
        if ours is not None and wanted.place is not None and not isinstance(known[-1], MeshRestored):
            problem = await surely_take_back(wanted.place, ours)
            with suppress(CutsetError):  # the ledger may be what failed
                note(MeshRestored(why=_in_words(error), interrupted=True, problem=problem))
        raise


async def _tried(
    decision: Decision,
    wanted: Undertaking,
    laboratory: ObservingLaboratory,
    past: Sequence[HardeningEvent],
    note: HardeningRecorder,
) -> AsyncGenerator[HardeningEvent, None]:
    started, observed = _first(past, HardeningStarted), [each for each in past if isinstance(each, CallsObserved)]
    if started is None:
        note(started := HardeningStarted(campaign=wanted.campaign, services=wanted.services))
        yield started
    left = _left(decision.findings, past) if wanted.recheck else []
    if _is_over(past) or (not left and (wanted.place is None or _judgements(past) > wanted.recheck)):
        return
    await _require_health(wanted, laboratory, past)
    named = {request.name: request for request in wanted.requests}
    cuts = [(named[finding.request], finding.cut) for finding in decision.findings] if wanted.recheck else []
    if not observed:
        note(first := await observe(laboratory, wanted.requests, cuts, parallel=wanted.parallel))
        yield first
        observed = [first]
    prospect: Prospect | None = None
    if wanted.place is not None:
        prospect = await wanted.place.plan(decision, started.services, observed[0])
        async for event in apply_change(wanted.place, prospect, past=past, record=note):
            yield event
        if not _judgements(past):
            yield await _judged(laboratory, wanted, note)
        if wanted.recheck and len(observed) == 1:
            # Also gives the stand-in of a fallback something to remember.
            note(again := await observe(laboratory, wanted.requests, cuts, parallel=wanted.parallel))
            yield again
    put = (prospect.settings, prospect.repeats) if prospect else (None,)
    gone = expected_gone(decision, started.services, *put)
    pending = [(named[finding.request], finding) for finding in left]
    async with aclosing(_recheck(pending, gone, laboratory, note, wanted.parallel)) as rechecks:
        async for recheck in rechecks:
            yield recheck
    if wanted.place is not None and wanted.recheck:  # what was injected may have shown what a calm request does not
        yield await _judged(laboratory, wanted, note)


async def _require_health(wanted: Undertaking, laboratory: ObservingLaboratory, past: Sequence[HardeningEvent]) -> None:
    """Before anything is changed. Where it is changed already, an ill request is the change's fault until proven."""
    try:
        await audit_all(laboratory, wanted.requests)
    except TargetError as error:
        if change_in_force(past) is not None:
            raise _IllError(error.message) from error
        raise
    if wanted.place is None or change_in_force(past) is not None:
        return
    if ill := await ill_requests(laboratory, wanted.requests):
        raise TargetError(
            f"Requests fail without any fault, so that nobody could tell what a change did: {in_words(ill)}",
            hint="Nothing was changed. Make them reliable first, or explore and harden without them",
        )


async def _judged(laboratory: ObservingLaboratory, wanted: Undertaking, note: HardeningRecorder) -> HealthJudged:
    judged = HealthJudged(runs=RUNS, ill=await ill_requests(laboratory, wanted.requests))
    note(judged)
    if judged.ill:
        raise _IllError(f"what worked before does not: {in_words(dict(judged.ill))}")
    return judged


async def _still_ill(laboratory: ObservingLaboratory, requests: Sequence[Request]) -> dict[str, str]:
    for _ in range(SETTLING_ROUNDS):
        if not (ill := await ill_requests(laboratory, requests)):
            break
    return ill


def _judgements(past: Sequence[HardeningEvent]) -> int:
    """How often health was judged since the mesh took the change."""
    kinds = [type(event) for event in past]
    last = len(kinds) - kinds[::-1].index(MeshChanged) if MeshChanged in kinds else len(kinds)
    return 0 if was_taken_back(past) else kinds[last:].count(HealthJudged)


def _is_over(past: Sequence[HardeningEvent]) -> bool:
    return any(isinstance(event, MeshRestored) and not event.interrupted for event in past)


def _in_words(error: BaseException) -> str:
    if isinstance(error, CutsetError):
        return error.message
    return "interrupted" if isinstance(error, asyncio.CancelledError | KeyboardInterrupt) else repr(error)[:200]


async def _recheck(
    cuts: Sequence[tuple[Request, Finding]],
    gone: frozenset[str],
    laboratory: ObservingLaboratory,
    record: HardeningRecorder,
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
