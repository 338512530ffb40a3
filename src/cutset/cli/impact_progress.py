"""Live progress of an impact on standard error: the window, what each group met so far, and how to stop it."""

import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from rich.live import Live
from rich.text import Text

from cutset.cli.output import Console
from cutset.model.fault import format_cut
from cutset.model.impact import (
    Group,
    GuardTripped,
    ImpactEvent,
    ImpactStarted,
    ImpactWindow,
    RequestsObserved,
    WindowEnded,
    WindowStarted,
)
from cutset.model.wording import visible

LINE_SECONDS = 10  # between lines where there is no terminal: CI systems kill silent builds after some minutes
HOW_TO_STOP = "by Ctrl-C, or by `cutset halt` from another terminal"


@dataclass(slots=True)
class ImpactProgress:
    """What is known of the run so far."""

    cut: str = ""
    seconds: dict[ImpactWindow, float] = field(default_factory=dict)
    window: ImpactWindow | None = None
    since: float = 0.0
    share: float = 0.0
    requests: Counter[Group] = field(default_factory=Counter)  # with and without the fault, in the window during
    failed: Counter[Group] = field(default_factory=Counter)
    before: int = 0
    ended: str = ""

    def take(self, event: ImpactEvent) -> None:
        match event:
            case ImpactStarted():  # of the next part of a workflow, maybe
                self.cut, self.seconds, self.window = format_cut(event.cut), dict(event.seconds), None
                self.requests.clear()
                self.failed.clear()
                self.before, self.ended = 0, ""
            case WindowStarted():
                self.window, self.since, self.share = event.window, event.at, event.share
            case RequestsObserved(window=ImpactWindow.DURING):
                for request in event.requests:
                    entry = next((call for call in request.calls if call.api == request.entry), None)
                    self.requests[request.group] += entry is not None
                    self.failed[request.group] += entry is not None and entry.failed
            case RequestsObserved(window=ImpactWindow.BEFORE):
                self.before += sum(bool(request.calls) for request in event.requests)
            case WindowEnded(reason=reason) if reason:
                self.ended = reason
            case GuardTripped():
                self.ended = f"{event.guard}: {event.reason}"

    def line(self, now: float) -> str:
        if self.window is None:
            return f"{self.cut}: getting ready"
        left = max(0.0, self.since + self.seconds.get(self.window, 0.0) - now)
        parts = [f"{self.cut}: {self.window}, at most {left:.0f} s left"]
        if self.window is ImpactWindow.DURING:
            parts[0] += f", in {100 * self.share:.3g} % of requests"
        if self.window is ImpactWindow.BEFORE:
            parts.append(f"{self.before} requests seen")
        else:
            parts += [f"{group} {_rate(self.failed[group], self.requests[group])}" for group in _GROUPS]
        return "; ".join([*parts, *([self.ended] if self.ended else [])])


_GROUPS = (Group.FAULT, Group.CONTROL)


def _rate(failed: int, requests: int) -> str:
    return f"{failed} of {requests} failed ({failed / requests:.1%})" if requests else "0 requests"


async def show_impact_progress(events: AsyncGenerator[ImpactEvent, None], recorded: list[ImpactEvent]) -> None:
    """Consumes the events to their end, into `recorded`. Nothing is drawn before the first one: a question may be."""
    console, progress = Console(stderr=True, highlight=False), ImpactProgress()
    drawing = Live(
        console=console, transient=True, refresh_per_second=4, get_renderable=lambda: _shown(progress, time.time())
    )
    due = 0.0
    try:
        async with aclosing(events):
            async for event in events:
                recorded.append(event)
                progress.take(event)
                if console.is_terminal:
                    drawing.start()
                elif isinstance(event, WindowStarted) or (progress.window and time.monotonic() >= due):
                    due = time.monotonic() + LINE_SECONDS
                    console.print(progress.line(time.time()), markup=False, soft_wrap=True)
    finally:
        drawing.stop()


def _shown(progress: ImpactProgress, now: float) -> Text:
    return Text(visible(progress.line(now))).append(f"\nends at once {HOW_TO_STOP}", style="dim")
