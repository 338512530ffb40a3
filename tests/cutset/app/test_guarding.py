import asyncio
import os
import time
from pathlib import Path

import pytest

from cutset.app.guarding import guarded, shown_as_active
from cutset.errors import HaltedError
from cutset.guards.halting import HaltOrder, give_order
from cutset.guards.settings import GuardSettings, UrlCondition
from cutset.model.run import Loop
from cutset.process.whom import user_at_host
from cutset.store.active import active_injections
from cutset.store.audit import audit_entries


def test_a_run_is_shown_and_its_injections_are_in_its_name(tmp_path: Path) -> None:
    async def run() -> None:
        async with guarded(tmp_path, GuardSettings(), Loop.DRILL, "drill") as gate:
            assert active_injections(tmp_path) == []
            with shown_as_active(gate, tmp_path, "run-7", "drills", until=99.0, config=Path("cutset.yaml")):
                (active,) = active_injections(tmp_path)
                assert (active.run, active.loop, active.environment, active.what) == (
                    "run-7",
                    "drill",
                    "drill",
                    "drills",
                )
                assert (active.by, active.process, active.until) == (user_at_host(), os.getpid(), 99.0)
                assert active.config == "cutset.yaml"
                gate.permit("db/get:gone", "b" * 32)
        assert active_injections(tmp_path) == []

    before = time.time()
    asyncio.run(run())

    (entry,) = audit_entries(tmp_path)
    assert (entry.run, entry.loop, entry.environment, entry.by) == ("run-7", "drill", "drill", user_at_host())
    assert before <= entry.at <= time.time()


@pytest.mark.parametrize("why", ["halted", "guard"])
def test_nothing_begins_where_nothing_may_be_injected(tmp_path: Path, why: str) -> None:
    settings = GuardSettings(urls=(UrlCondition("http://127.0.0.1:9/"),)) if why == "guard" else GuardSettings()
    if why == "halted":
        give_order(tmp_path, HaltOrder("anna@laptop"))

    async def run() -> None:
        async with guarded(tmp_path, settings, Loop.DRILL, "drill"):
            pytest.fail("it began")

    with pytest.raises(HaltedError):
        asyncio.run(run())
