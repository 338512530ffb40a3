"""What the dashboard knows: the store, read when a page asks, and computed again only when something was added."""

from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from cutset.errors import CutsetError, UsageError
from cutset.model.campaign import Campaign
from cutset.model.event import CampaignEvent
from cutset.model.run import Loop, RunRecord
from cutset.model.wording import known_names
from cutset.store.follow import FollowedLedger, followed_ledger, ledger_mark

MOST_KEPT = 32  # results of computations on whole runs

Computed = TypeVar("Computed")


class Reading:
    """One for the life of the dashboard; used in its event loop only."""

    def __init__(self, store: Path, stack: ExitStack) -> None:
        """What it opens is closed by the stack."""
        self.store = store
        self._opened = stack.enter_context(ExitStack())
        self._mark: object = None  # of the ledger that is open
        self._followed: FollowedLedger | None = None
        self._kept: OrderedDict[tuple[str, str], tuple[int, Any]] = OrderedDict()

    def refreshed(self) -> FollowedLedger | None:
        """None: nothing is recorded here. Raises CutsetError while what is there cannot be trusted."""
        if (mark := ledger_mark(self.store)) != self._mark:
            self._forget()
        if mark is None:
            return None
        try:
            if self._followed is None:
                self._followed, self._mark = self._opened.enter_context(followed_ledger(self.store)), mark
            self._followed.refresh()
        except CutsetError:
            self._forget()  # and read all of it again: it may be restored
            raise
        return self._followed

    def _forget(self) -> None:
        self._opened.close()
        self._mark = self._followed = None
        self._kept.clear()

    def runs(self, loop: Loop | None = None) -> list[RunRecord]:
        """The latest last."""
        followed = self.refreshed()
        return followed.runs(loop) if followed else []

    def run(self, loop: Loop, wanted: str = "") -> RunRecord:
        """By default the latest that serves no other. Raises UsageError if there is none."""
        runs = self.runs(loop)
        own = [run for run in runs if (run.id == wanted if wanted else not run.started.part_of)]
        if not own:
            named = f" `{wanted}`" if wanted else ""
            hint = known_names(run.id for run in runs[-5:]) if runs else "Nothing of that kind was recorded yet"
            raise UsageError(f"There is no {loop}{named} in this store", hint=hint)
        return own[-1]

    def events(self, run: str) -> list[Any]:
        followed = self.refreshed()
        return followed.events(run) if followed else []

    def position(self, run: str = "") -> int:
        """Changes when the run goes on; by default when any does."""
        followed = self.refreshed()
        return followed.last_record(run) if followed else 0

    def campaign(self, wanted: str = "") -> Campaign:
        """By default the latest."""
        run = self.run(Loop.CAMPAIGN, wanted).id
        return self.computed("campaign", run, lambda: Campaign(run, self._campaign_events(run)))

    def _campaign_events(self, run: str) -> tuple[CampaignEvent, ...]:
        return tuple(event for event in self.events(run) if isinstance(event, CampaignEvent))

    def computed(self, what: str, run: str, compute: Callable[[], Computed]) -> Computed:
        """The result of this for the run as it is now, from memory if nothing was added since."""
        key, position = (what, run), self.position(run)
        known = self._kept.get(key)
        if known is None or known[0] != position:
            self._kept[key] = known = (position, compute())
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        result: Computed = known[1]
        return result
