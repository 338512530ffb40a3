"""A campaign while it goes on: experiments as they happen, how far each request has come, what is spent of the budget.

All of it takes one look at each event, so that it can be told anew several times a second.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import htpy as h

from cutset.model.event import CampaignStarted, ExperimentFinished
from cutset.model.wording import count
from cutset.report.campaign.page import chips, size_strip
from cutset.report.campaign.progress import RequestProgress, take_note
from cutset.report.page.components import bounded, verdict, when, with_code
from cutset.store.codec import RecordedEvent

LATEST = 50  # experiments that are listed


@dataclass(slots=True)
class UnderWay:
    started: CampaignStarted = field(default_factory=lambda: CampaignStarted(requests=(), max_size=0))
    since: float = 0.0  # when that was, in Unix seconds
    last: float = 0.0  # when something happened last
    progress: dict[str, RequestProgress] = field(default_factory=dict)
    latest: deque[tuple[int, float, ExperimentFinished]] = field(default_factory=lambda: deque(maxlen=LATEST))

    @property
    def experiments(self) -> int:
        return sum(each.done for each in self.progress.values())

    @property
    def status(self) -> str:
        """In one line, for who listens."""
        found = sum(each.found for each in self.progress.values())
        return f"{count(self.experiments, 'experiment')}, {found} failed"


def under_way(events: Iterable[tuple[float, RecordedEvent]]) -> UnderWay:
    """Each with the time at which it was recorded."""
    known = UnderWay()
    for at, event in events:
        known.last = at
        take_note(event, known.progress)
        if isinstance(event, CampaignStarted):
            known.started, known.since = event, at
        elif isinstance(event, ExperimentFinished):
            number = 1 + (known.latest[-1][0] if known.latest else 0)
            known.latest.append((number, at, event))
    return known


def progress_part(known: UnderWay) -> h.Node:
    return [
        h.h2["Progress"],
        h.dl(".facts")[(_spent(*each) for each in _budgets(known))],
        h.ul(".classes")[(_request_progress(name, known) for name in known.started.requests)],
    ]


def _budgets(known: UnderWay) -> Iterable[tuple[str, float, float]]:
    started = known.started
    yield "experiments", known.experiments, started.experiments
    yield "minutes", max(known.last - known.since, 0.0) / 60, started.minutes
    yield "rounds", max((each.round for each in known.progress.values()), default=0), started.rounds


def _spent(what: str, spent: float, most: float) -> h.Node:
    """0 stands for no limit."""
    told = f"{spent:,.1f}" if isinstance(spent, float) else f"{spent:,}"
    return [
        h.dt[what],
        h.dd[
            f"{told} of {most:,g} " if most else f"{told}, no limit",
            h.progress(value=str(min(spent, most)), max=str(most), aria_label=f"{what} spent") if most else None,
        ],
    ]


def _request_progress(name: str, known: UnderWay) -> h.Element:
    progress = known.progress.get(name)
    return h.li[
        h.span[bounded(name)],
        h.div[
            size_strip(known.started.max_size, progress.proven if progress else -1),
            h.div(".small.muted")[
                f"{progress.note}; {progress.done} tried, at least {progress.left} to do" if progress else "not begun"
            ],
        ],
    ]


def experiments_part(known: UnderWay) -> h.Node:
    """The newest first."""
    return [
        h.h2["Latest experiments"],
        h.ul(".rows")[(_experiment(*each, known) for each in reversed(known.latest))]
        if known.latest
        else h.p(".muted")["None yet: first it is seen how the requests do without a fault"],
    ]


def _experiment(number: int, at: float, event: ExperimentFinished, known: UnderWay) -> h.Element:
    outcome = event.outcome
    return h.li(".row", id=f"experiment-{number}")[
        verdict(outcome.verdict),
        h.div[
            chips(outcome.cut, known.started.effects),
            h.div(".small")[with_code(bounded(outcome.reason))],
            h.div(".small.muted")[
                f"{number:,} · {bounded(event.request)} · round {event.round} · ",
                f"{count(outcome.requests, 'request')} · ",
                when(at),
            ],
        ],
    ]
