"""What runs now, here or in another process, and how runs stand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import htpy as h

from cutset.model.run import Loop, RunRecord
from cutset.report.page.components import bounded, note, verdict, when, with_code
from cutset.store.active import ActiveInjection, active_injections
from cutset.web.dashboard import Dashboard
from cutset.web.live import PageLook
from cutset.web.runs import StartedRun

# Where runs of each kind have pages.
PAGES = {
    Loop.CAMPAIGN: "/campaigns",
    Loop.DRILL: "/drills",
    Loop.IMPACT: "/impacts",
    Loop.REPRODUCTION: "/reproductions",
    Loop.HARDENING: "/hardenings",
}


@dataclass(frozen=True, slots=True)
class RunState:
    """How a run stands."""

    finished: bool  # nothing is left to do
    here: bool = False  # the dashboard started it, and it goes on
    elsewhere: ActiveInjection | None = None  # it goes on, and somebody else started it

    @property
    def under_way(self) -> bool:
        return self.here or self.elsewhere is not None


def state_of(dashboard: Dashboard, run: RunRecord) -> RunState:
    current = dashboard.runs.current
    if current and current.id == run.id:
        return RunState(run.finished, here=True)
    found = [each for each in active_injections(dashboard.store) if each.run == run.id]
    return RunState(run.finished, elsewhere=found[0] if found else None)


def state_in_words(state: RunState) -> h.Element:
    if state.under_way:
        return verdict("not tried", "under way")
    return verdict("passed", "finished") if state.finished else verdict("unknown", "unfinished")


def look_at_runs(dashboard: Dashboard, parts: Callable[[], Mapping[str, h.Node]]) -> PageLook:
    """A page on which runs are shown together: what runs now, and the parts that change with it."""
    latest, current = dashboard.runs.latest, dashboard.runs.current
    others = [each for each in active_injections(dashboard.store) if not (current and current.id == each.run)]
    now = [
        _ours(dashboard, current) if current else None,
        [_of_others(each) for each in others],
        _ended(latest) if latest and latest.problem else None,
    ]
    words = [*([current.what] if current else []), *(f"a {each.loop} is under way" for each in others)]
    rendered = dashboard.pace.computed(
        (parts.__module__, dashboard.can_act, *words),
        dashboard.reading.position(),
        lambda: {name: str(h.div[part]) for name, part in parts().items()},
        hurried=not words,
    )
    return PageLook({"now": str(h.div[now]), **rendered}, "; ".join(words) or "nothing runs", ended=not words)


def _ours(dashboard: Dashboard, current: StartedRun) -> h.Element:
    return note(
        h.p[h.strong[bounded(current.what)], " since ", when(current.since)],
        h.p[h.a(href=current.address)["Watch it"] if current.id else "Looking whether all is ready …"],
        not dashboard.read_only and h.form(method="post", action="/campaigns/stop")[h.button["Stop"]],
    )


def _of_others(active: ActiveInjection) -> h.Element:
    place = {str(loop): address for loop, address in PAGES.items()}.get(active.loop, "")
    return note(
        h.p[
            h.strong[f"A {active.loop} is under way"],
            f", of {active.by}, process {active.process}, since ",
            when(active.since),
        ],
        h.p[bounded(active.what)],
        h.p[h.a(href=f"{place}/{active.run}")["Watch it"]] if place else None,
    )


def _ended(latest: StartedRun) -> h.Element:
    return note(h.p[bounded(f"{latest.what}: {latest.problem}")], h.p(".muted")[with_code(latest.hint)], kind="unknown")
