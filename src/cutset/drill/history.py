"""Which of the planned tests are due, given what came of them before (CAST §3.5.1)."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from cutset.drill.plan import Flow, PlannedTest
from cutset.drill.settings import ServiceUnderTest
from cutset.model.drill import DrillFinished, DrillVerdict

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class PastDrill:
    at: float  # Unix seconds
    finished: DrillFinished


def due(
    tests: Iterable[tuple[PlannedTest, str]], past: Iterable[PastDrill], *, now: float, expire_days: float
) -> tuple[list[PlannedTest], list[tuple[PlannedTest, str]]]:
    """Those to run, failed ones first, and those not to run, with the reason. Each test comes with its subject now.

    What passed counts for some days, and only for the subject that it was shown of.
    """
    latest = {each.finished.result.test.id: each for each in past}
    run: list[tuple[bool, PlannedTest]] = []
    skipped: list[tuple[PlannedTest, str]] = []
    for planned, subject in tests:
        before = latest.get(planned.test.id)
        verdict = before.finished.result.judgement.verdict if before else None
        days = (now - before.at) / DAY if before else 0.0
        if before and verdict is DrillVerdict.PASSED and before.finished.subject == subject and days < expire_days:
            skipped.append((planned, f"passed {days:.1f} days ago, which counts for {expire_days:g}"))
        else:
            run.append((verdict is not DrillVerdict.FAILED, planned))
    return [planned for _, planned in sorted(run, key=lambda item: item[0])], skipped


def subject_of(service: ServiceUnderTest, flow: Flow) -> str:
    """A digest of what a test of this flow tests: how the service is started, and what the flow was recorded to do.

    Not of the recorded values: a recording of the next day does not make another test of it.
    """
    calls = [
        (step.name, exchange.service, sorted((call.endpoint, call.occurrence) for call in exchange.operations))
        for step in flow.steps
        for exchange in (step.exchange, *step.consequences)
    ]
    started = (service.command, sorted(service.env.items()), str(service.folder))
    return hashlib.sha256(repr((started, calls)).encode()).hexdigest()[:16]
