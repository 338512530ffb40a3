"""What every laboratory promises, whatever it experiments on: a real mesh, a simulation, a cluster.

A laboratory that is new describes a system under test as a `Specimen`, and runs all of `PROMISES` on it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from cutset.experiment.laboratory import Laboratory
from cutset.model.fault import BASELINE, cut_of
from cutset.model.outcome import Outcome, Points, Verdict
from cutset.model.point import Point
from cutset.model.request import Request

AT_ONCE = 8  # of each kind of experiment


@dataclass(frozen=True, slots=True)
class Specimen:
    """A laboratory with a system that has one request for each habit of real ones."""

    laboratory: Laboratory
    tolerant: Request  # calls `needed` and `optional`; of the latter's failure the user sees nothing
    needed: Point
    optional: Point
    redundant: Request  # calls `primary`, and only if that fails `backup`
    primary: Point
    backup: Point
    forgetful: Request  # calls `unreached` without the plan
    unreached: Point
    varying: Request  # calls `needed`, and half of the times `sometimes`, which it then needs
    sometimes: Point
    broken: Request  # fails without any fault
    absent: Point  # nobody calls it
    kill: Callable[[], Awaitable[None]]  # a server of the system
    revive: Callable[[], Awaitable[None]]

    async def run(self, request: Request, *points: Point) -> Outcome:
        """As a campaign does: no request is experimented on that was not audited."""
        audited = await self.laboratory.audit(request)
        assert audited.healthy, audited.reason
        return await self.laboratory.run(request, cut_of(points))


async def an_audit_names_what_can_be_faulted_and_shows_runs_without_a_fault(specimen: Specimen) -> None:
    audited = await specimen.laboratory.audit(specimen.tolerant)

    assert (audited.request, audited.healthy, audited.reason) == (specimen.tolerant.name, True, "")
    assert (audited.calls, audited.not_reached) == (points(specimen.needed, specimen.optional), points())
    assert audited.runs
    for run in audited.runs:
        assert (run.cut, run.verdict) == (BASELINE, Verdict.SURVIVED)
        assert run.path == run.calls == audited.calls


async def an_audit_of_a_request_that_fails_by_itself_says_why_it_is_not_healthy(specimen: Specimen) -> None:
    audited = await specimen.laboratory.audit(specimen.broken)

    assert not audited.healthy
    assert audited.reason
    assert audited.runs == ()


async def an_audit_tells_calls_that_no_plan_reaches_from_the_others(specimen: Specimen) -> None:
    audited = await specimen.laboratory.audit(specimen.forgetful)

    assert audited.healthy
    assert audited.not_reached == points(specimen.unreached)
    assert specimen.unreached not in audited.calls


async def the_empty_cut_survives_with_all_that_it_needs_on_its_path(specimen: Specimen) -> None:
    outcome = await specimen.run(specimen.tolerant)

    assert (outcome.cut, outcome.verdict) == (BASELINE, Verdict.SURVIVED)
    assert outcome.path == outcome.calls == points(specimen.needed, specimen.optional)
    assert outcome.failed == points()


async def a_fault_at_a_call_that_is_needed_fires_and_fails_the_request(specimen: Specimen) -> None:
    outcome = await specimen.run(specimen.tolerant, specimen.needed)

    assert (outcome.cut, outcome.verdict) == (cut_of([specimen.needed]), Verdict.FAILED)
    assert specimen.needed in outcome.failed <= outcome.calls
    assert outcome.fired == points(specimen.needed)
    assert outcome.failures == outcome.trials >= 1
    assert outcome.healthy_after
    assert outcome.requests >= 1
    assert outcome.dead == ()


async def a_fault_that_is_tolerated_survives_with_the_path_that_was_left(specimen: Specimen) -> None:
    outcome = await specimen.run(specimen.tolerant, specimen.optional)

    assert (outcome.cut, outcome.verdict) == (cut_of([specimen.optional]), Verdict.SURVIVED)
    assert outcome.path == points(specimen.needed)
    assert outcome.failed == outcome.fired == points(specimen.optional)
    assert outcome.calls == points(specimen.needed, specimen.optional)
    assert (outcome.failures, outcome.is_share) == (0, False)


async def a_fallback_is_on_the_path_only_when_it_was_needed(specimen: Specimen) -> None:
    baseline = await specimen.run(specimen.redundant)
    rescued = await specimen.run(specimen.redundant, specimen.primary)
    lost = await specimen.run(specimen.redundant, specimen.primary, specimen.backup)

    assert (baseline.verdict, baseline.path) == (Verdict.SURVIVED, points(specimen.primary))
    assert (rescued.verdict, rescued.path) == (Verdict.SURVIVED, points(specimen.backup))
    assert (lost.verdict, lost.failed) == (Verdict.FAILED, points(specimen.primary, specimen.backup))


async def a_fault_that_never_fires_is_unknown_and_the_reason_says_so(specimen: Specimen) -> None:
    for request, point in (
        (specimen.tolerant, specimen.absent),
        (specimen.redundant, specimen.backup),  # called only when the primary fails
        (specimen.forgetful, specimen.unreached),
    ):
        outcome = await specimen.run(request, point)

        assert (outcome.cut, outcome.verdict) == (cut_of([point]), Verdict.UNKNOWN)
        assert str(point) in outcome.reason
        assert outcome.path == points()


async def a_cut_of_which_a_part_is_never_called_is_judged_by_the_rest(specimen: Specimen) -> None:
    fails = await specimen.run(specimen.tolerant, specimen.needed, specimen.absent)
    survives = await specimen.run(specimen.tolerant, specimen.optional, specimen.absent)

    assert fails.verdict is Verdict.FAILED
    assert (survives.verdict, survives.path) == (Verdict.SURVIVED, points(specimen.needed))


async def requests_that_vary_are_known_by_their_audit_and_each_experiment_shows_what_all_of_them_call(
    specimen: Specimen,
) -> None:
    audited = await specimen.laboratory.audit(specimen.varying)
    assert str(specimen.sometimes) in audited.varies
    steady = await specimen.laboratory.audit(specimen.tolerant)
    assert steady.varies == ""

    outcome = await specimen.run(specimen.varying)

    assert (outcome.verdict, outcome.failures) == (Verdict.SURVIVED, 0)
    assert outcome.trials > 1
    assert outcome.path == outcome.calls == points(specimen.needed, specimen.sometimes)


async def a_cut_that_fails_some_requests_only_has_failed_and_says_which_share(specimen: Specimen) -> None:
    outcome = await specimen.run(specimen.varying, specimen.sometimes)

    assert (outcome.cut, outcome.verdict) == (cut_of([specimen.sometimes]), Verdict.FAILED)
    assert outcome.is_share
    assert 0 < outcome.failures < outcome.trials
    assert f"those that call {specimen.sometimes}, {outcome.failures} of {outcome.trials}" in outcome.reason
    assert outcome.fired == points(specimen.sometimes)
    assert outcome.healthy_after


async def experiments_at_the_same_time_do_not_disturb_each_other(specimen: Specimen) -> None:
    kinds = {
        (): (Verdict.SURVIVED, points(specimen.needed, specimen.optional)),
        (specimen.optional,): (Verdict.SURVIVED, points(specimen.needed)),
        (specimen.needed,): (Verdict.FAILED, None),
        (specimen.absent,): (Verdict.UNKNOWN, points()),
    }
    assert (await specimen.laboratory.audit(specimen.tolerant)).healthy
    planned = list(kinds) * AT_ONCE

    outcomes = await asyncio.gather(
        *(specimen.laboratory.run(specimen.tolerant, cut_of(faulted)) for faulted in planned)
    )

    for faulted, outcome in zip(planned, outcomes, strict=True):
        verdict, path = kinds[faulted]
        assert (outcome.cut, outcome.verdict) == (cut_of(faulted), verdict), outcome.reason
        assert path in (None, outcome.path)
    trace_ids = [trace_id for outcome in outcomes for trace_id in outcome.trace_ids]
    assert len(set(trace_ids)) == len(trace_ids)


async def a_system_whose_servers_are_there_has_recovered_and_one_that_lost_a_server_when_it_is_back(
    specimen: Specimen,
) -> None:
    assert await specimen.laboratory.recovered()

    await specimen.kill()
    waiting = asyncio.ensure_future(specimen.laboratory.recovered())
    done, _ = await asyncio.wait([waiting], timeout=0.2)
    assert not done, "a server is gone"
    await specimen.revive()

    assert await waiting


Promise = Callable[[Specimen], Awaitable[None]]
PROMISES: tuple[Promise, ...] = (
    an_audit_names_what_can_be_faulted_and_shows_runs_without_a_fault,
    an_audit_of_a_request_that_fails_by_itself_says_why_it_is_not_healthy,
    an_audit_tells_calls_that_no_plan_reaches_from_the_others,
    the_empty_cut_survives_with_all_that_it_needs_on_its_path,
    a_fault_at_a_call_that_is_needed_fires_and_fails_the_request,
    a_fault_that_is_tolerated_survives_with_the_path_that_was_left,
    a_fallback_is_on_the_path_only_when_it_was_needed,
    a_fault_that_never_fires_is_unknown_and_the_reason_says_so,
    a_cut_of_which_a_part_is_never_called_is_judged_by_the_rest,
    requests_that_vary_are_known_by_their_audit_and_each_experiment_shows_what_all_of_them_call,
    a_cut_that_fails_some_requests_only_has_failed_and_says_which_share,
    experiments_at_the_same_time_do_not_disturb_each_other,
    a_system_whose_servers_are_there_has_recovered_and_one_that_lost_a_server_when_it_is_back,
)


def points(*members: Point) -> Points:
    return frozenset(members)
