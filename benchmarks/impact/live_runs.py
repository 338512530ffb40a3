"""Impacts of faults on what users of a place send meanwhile, by the function that `cutset impact` calls."""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from benchmarks.impact.place import Place
from benchmarks.impact.users import USER_HEADER, UsersOrder

from cutset.app.impact import ImpactPlan, measure
from cutset.app.impact_results import RecordedImpact, recorded_in
from cutset.config.explore import load_config
from cutset.errors import HaltedError
from cutset.guards.settings import GuardSettings
from cutset.impact.settings import ImpactSettings
from cutset.model.impact import Group, Impact, ImpactEvent, ImpactStarted, RequestsObserved, UserKey, WindowEnded
from cutset.model.run import RunFinished

SETTINGS = ImpactSettings(
    share=40,  # with as many of control, one of five is left to be nobody's concern
    before=1.2,
    during=25.0,  # at most: it ends when all is decided
    after=0.2,
    user=UserKey(header=USER_HEADER),
)
# Budgets are for those who have real users; the guards that watch these stay on.
NO_BUDGET = GuardSettings(max_marked=0, max_failed=0)


@dataclass(frozen=True, slots=True)
class LiveRuns:
    recorded: tuple[RecordedImpact, ...]
    groups: Mapping[str, Group]  # by trace
    failed: Mapping[str, str]  # of users' requests, by trace: where and how
    requests: int
    halted: str = ""  # by which guard, if any ended it

    @property
    def impacts(self) -> tuple[Impact, ...]:
        return tuple(each.impact for each in self.recorded)

    @property
    def failed_without_fault(self) -> dict[str, str]:
        return {trace: how for trace, how in self.failed.items() if self.groups.get(trace) is not Group.FAULT}

    @property
    def failed_unmarked(self) -> int:
        return sum(trace not in self.groups for trace in self.failed)


async def measure_live(
    place: Place,
    parts: Sequence[str],
    users: Callable[[int], UsersOrder],
    *,
    settings: ImpactSettings = SETTINGS,
    guards: GuardSettings = NO_BUDGET,
    first: UsersOrder,
    on_event: Callable[[ImpactEvent], None] = lambda _: None,
    workflow: int = 0,
) -> LiveRuns:
    """One impact after the other. What users do is said for each by its number, and for the time before all of them."""
    config = replace(load_config(place.config_file), impact=settings, guards=guards)
    plan = ImpactPlan(tuple((part,) for part in parts), workflow=workflow)
    events: list[ImpactEvent] = []
    failed: dict[str, str] = {}
    requests, number, halted = 0, 0, ""

    async def order(wanted: UsersOrder) -> None:
        nonlocal requests
        tally = await asyncio.to_thread(place.users.order, wanted)
        failed.update(tally.failed)
        requests += tally.requests

    await order(first)
    failed.clear()
    requests = 0
    try:
        async with aclosing(measure(config, plan, key=place.key, store=place.store, on_note=_note)) as measured:
            async for event in measured:
                events.append(event)
                if isinstance(event, ImpactStarted):
                    await order(users(number))
                    number += 1
                on_event(event)
    except HaltedError as error:
        halted = error.message
    await order(UsersOrder())
    observed = [each for event in events if isinstance(event, RequestsObserved) for each in event.requests]
    groups = {each.trace_id: each.group for each in observed}
    return LiveRuns(tuple(recorded_in(events)), groups, failed, requests, halted)


def explained(impact: Impact) -> str:
    lines = [f"{each.api}: {each.verdict}: {each.reason}" for each in impact.apis]
    return "\n".join(
        [f"{impact.verdict}, {impact.faulted} faulted, others {impact.others_failed}", *lines, *impact.problems]
    )


def _note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def progress(names: Sequence[str]) -> Callable[[ImpactEvent], None]:
    done = 0

    def tell(event: ImpactEvent) -> None:
        nonlocal done
        if isinstance(event, RunFinished):
            done += 1
            print(f"{done} of {len(names)}: {names[done - 1]}", file=sys.stderr)
        if isinstance(event, WindowEnded) and event.marked:
            marked = ", ".join(f"{number} {group}" for group, number in event.marked.items())
            print(f"  {event.window}: {marked}, asked {event.asked}; {event.reason or 'as planned'}", file=sys.stderr)

    return tell
