"""`cutset ingest --follow`: its progress, and its end by Ctrl-C."""

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from cutset.app.follow import follow_traces
from cutset.cli.output import Console, notes
from cutset.model.steps import finished
from cutset.model.survey import Ingested
from cutset.model.wording import count
from cutset.survey.follow import Followed, FollowSettings

LINE_SECONDS = 10  # between lines of progress where there is no terminal
RATE_SECONDS = 10  # over which the rate is told: how fast it is now, not on average since last week

AGAIN_SECONDS = 1  # a terminal and whoever started us may both pass on one Ctrl-C


def follow_command(store: Path, sources: Sequence[str], settings: FollowSettings) -> Ingested:
    progress = _Progress(notes())
    with _ended_by_signals() as ended:
        progress.console.print(f"Following {' '.join(sources)}; stop with Ctrl-C", markup=False)
        try:
            return finished(follow_traces(store, sources, ended, settings), progress.tell)
        finally:
            progress.clear()


@contextmanager
def _ended_by_signals() -> Iterator[threading.Event]:
    """Set by Ctrl-C and SIGTERM, which are a proper end; another one, a moment later, interrupts that, too.

    A thread sets it: in a handler, which may run while this thread waits for the event, that would wait for itself.
    """
    ended, told = threading.Event(), SimpleQueue[float]()
    first = 0.0

    def hear(*_: object) -> None:
        nonlocal first
        if first and time.monotonic() - first > AGAIN_SECONDS:
            raise KeyboardInterrupt
        first = first or time.monotonic()
        told.put(first)

    def end() -> None:
        told.get()
        ended.set()

    before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
    thread = threading.Thread(target=end)
    thread.start()
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        told.put(0)
        thread.join()


@dataclass(slots=True)
class _Progress:
    console: Console
    shown: float = 0
    looks: list[tuple[float, int]] = field(default_factory=lambda: [(time.monotonic(), 0)])  # when, and spans by then

    def tell(self, state: Followed) -> None:
        now = time.monotonic()
        self.looks.append((now, state.spans))
        while self.looks[1][0] < now - RATE_SECONDS:
            del self.looks[0]
        if now - self.shown < (0.2 if self.console.is_terminal else LINE_SECONDS):
            return
        self.shown = now
        line = _line(state, (state.spans - self.looks[0][1]) / (now - self.looks[0][0]))
        self.console.print(f"{line:<78}", end="\r" if self.console.is_terminal else "\n")

    def clear(self) -> None:
        if self.console.is_terminal:
            self.console.print(" " * 79, end="\r")


def _line(state: Followed, rate: float) -> str:
    far = f"{state.behind / 1e6:,.1f} MB behind" if state.behind else "nothing waits"
    read = f"{count(state.spans, 'span')} of {count(state.sources, 'source')}"
    return f"{read}, {rate:,.0f} a second, {far}"
