"""What happened in a hardening that was tried, step by step, as its events tell: also while it goes on."""

from collections.abc import Iterator, Sequence

import htpy as h

from cutset.model.hardening import (
    CallsObserved,
    CutRechecked,
    HardeningStarted,
    HealthJudged,
    MeshChanged,
    MeshChanging,
    MeshRestored,
)
from cutset.model.run import RunFinished
from cutset.model.wording import count
from cutset.report.page.components import code, when, with_code
from cutset.store.codec import RecordedEvent

DatedEvents = Sequence[tuple[float, RecordedEvent]]


def happened(events: DatedEvents, *, cuts: int, explored: DatedEvents = (), experiments: int = 0) -> h.Element:
    """`cuts` are known of the campaign; `explored` and `experiments` are of the one that looks for new ones."""
    return h.ol(".happened")[
        [h.li[when(at), h.span[told]] for at, told in _told(events, cuts)],
        h.li[
            when(explored[-1][0]), h.span[f"Looked for new cuts: {count(experiments, 'experiment')}{_so_far(explored)}"]
        ]
        if explored
        else None,
        [h.li[when(at), h.span["Ended"]] for at, event in events[-1:] if isinstance(event, RunFinished)],
    ]


def _so_far(explored: DatedEvents) -> str:
    return "" if any(isinstance(event, RunFinished) for _, event in explored) else " so far"


def in_one_line(events: DatedEvents, *, cuts: int) -> str:
    """What happened last, for who listens."""
    words = {
        HardeningStarted: "looking whether every request works",
        CallsObserved: "calls are timed",
        MeshChanging: "the mesh is being changed",
        MeshChanged: "the mesh is changed",
        HealthJudged: "health was judged",
        MeshRestored: "it was taken back",
        RunFinished: "ended",
    }
    last = events[-1][1] if events else None
    if isinstance(last, CutRechecked):
        return f"{_rechecked(events)} of {count(cuts, 'known cut')} injected again"
    return words.get(type(last), "begun")


def _told(events: DatedEvents, cuts: int) -> Iterator[tuple[float, h.Node]]:
    """Cuts are told of once, where the latest of them is."""
    timed = 0
    rechecks = [number for number, (_, event) in enumerate(events) if isinstance(event, CutRechecked)]
    for number, (at, event) in enumerate(events):
        match event:
            case HardeningStarted():
                yield at, ["Began, against campaign ", code(event.campaign)]
            case CallsObserved():
                timed += 1
                again = ", again" if timed > 1 else ""
                yield at, f"Timed the calls of {count(len(event.efforts), 'request')}{again}"
            case MeshChanging():
                yield at, f"Announced {count(len(event.added), 'setting')}, before anything was touched"
            case MeshChanged():
                yield at, "The mesh has taken what was announced"
            case HealthJudged(runs=runs, ill=ill):
                wrong = "; ".join(f"`{name}` {problem}" for name, problem in ill.items())
                healthy = "answered as before" if not ill else f"and not all is well: {wrong}"
                yield at, with_code(f"Sent each request {runs} times without faults: {healthy}")
            case MeshRestored():
                problem = f"; not all is as it was: {event.problem}" if event.problem else ""
                yield at, with_code(f"Took it back: {event.why}{problem}")
            case CutRechecked() if number == rechecks[-1]:
                yield at, _recheck_progress(events, cuts)


def _recheck_progress(events: DatedEvents, cuts: int) -> h.Node:
    done = _rechecked(events)
    gone = len({event.finding.id for _, event in events if isinstance(event, CutRechecked) and not event.remains})
    return [
        f"Injected {done} of {count(cuts, 'known cut')} again: {gone} gone ",
        h.progress(value=str(done), max=str(max(cuts, done, 1)), aria_label="Known cuts injected again"),
    ]


def _rechecked(events: DatedEvents) -> int:
    return len({event.finding.id for _, event in events if isinstance(event, CutRechecked)})
