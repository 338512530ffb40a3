"""A campaign that somebody runs: it is recorded event by event, and shown as active until the block ends."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.samples.campaign import EVENTS, RUN

from cutset.model.event import CampaignEvent
from cutset.store.active import ActiveInjection, injecting
from cutset.store.ledger import Ledger, open_ledger


def record(store: Path, run: str, events: Iterable[CampaignEvent] = EVENTS, **started: str) -> None:
    with open_ledger(store) as ledger:
        for event in (replace(RUN, run=run, **started), *events):
            ledger.append(run, event)


@contextmanager
def campaign_under_way(store: Path, run: str = "20261118-020000-bb") -> Iterator[tuple[str, Ledger]]:
    """Its id, and where what happens is to be recorded."""
    store.mkdir(exist_ok=True)
    active = ActiveInjection(run, "campaign", "test", "somebody@host", 4711, time.time(), "cuts of up to 3 faults")
    with open_ledger(store) as ledger, injecting(store, active):
        ledger.append(run, replace(RUN, run=run))
        yield run, ledger
