"""A campaign on simulated requests in a real ledger, sealed; and what somebody who can write the file makes of it."""

import asyncio
import hashlib
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.samples.simulated_campaign import REQUESTS, SETTINGS, SYSTEMS, SimulatedLaboratory

from cutset.campaign.explore import explore
from cutset.campaign.settings import CampaignSettings
from cutset.model.run import Loop, RunStarted
from cutset.simulation.simulated import System
from cutset.store.ledger import NAME, open_ledger

KEY = b"k" * 32


def recorded_campaign(
    store: Path, key: bytes = KEY, settings: CampaignSettings = SETTINGS, systems: Mapping[str, System] = SYSTEMS
) -> Path:
    """The path of its ledger."""

    async def record() -> None:
        with open_ledger(store, key=key) as ledger:
            ledger.append("only", RunStarted(loop=Loop.CAMPAIGN, run="only"))
            async for _ in explore("only", REQUESTS, SimulatedLaboratory(systems=systems), ledger, settings):
                pass

    asyncio.run(record())
    return store / NAME


Row = tuple[float, str, str]  # when, kind, fields


def rows_of(ledger: Path, run: str = "only") -> list[Row]:
    database = sqlite3.connect(ledger)
    found = database.execute("SELECT at, kind, fields FROM events WHERE run = ? ORDER BY id", (run,)).fetchall()
    database.close()
    return found


def forged(ledger: Path, folder: Path, rows: Sequence[Row], run: str = "only") -> Path:
    """The same ledger with these records, in a chain that fits them: whoever can write the file can do that."""
    copy = folder / NAME
    shutil.copy(ledger, copy)
    database = sqlite3.connect(copy)
    database.execute("DELETE FROM events")
    link = ""
    for at, kind, fields in rows:
        link = hashlib.sha256("\n".join((link, run, repr(at), kind, fields)).encode()).hexdigest()
        values = (run, at, kind, fields, link)
        database.execute("INSERT INTO events (run, at, kind, fields, link) VALUES (?, ?, ?, ?, ?)", values)
    database.commit()
    database.close()
    return copy
