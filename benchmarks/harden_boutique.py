"""Closes the loop on the boutique: explore, choose three APIs, apply fallbacks to its mesh, inject every cut again.

    python -m benchmarks.harden_boutique

Ends with one JSON line: AFVR (FastFI §4.5.2, eq. 9) as predicted, and as measured.
"""

import asyncio
import json
import secrets
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from cutset.app.demo import run_boutique
from cutset.app.explore import explore
from cutset.app.harden import TrialEvent, conclude, decide, try_out
from cutset.app.harden_place import Apply, Steps
from cutset.app.harden_problem import HardenOptions
from cutset.app.mesh import mesh_file_of
from cutset.config.explore import load_config
from cutset.config.harden import ApiChoice, HardenChoice

BUDGET = 3
# A cart that was never read has no last good answer: for a page, an empty one will do.
WISHES = HardenChoice(apis={"cart/GetCart": ApiChoice(fallback="last-good-or-empty")})


def afvr_of_boutique() -> tuple[float, float]:
    """Predicted and measured."""
    key = secrets.token_hex().encode()  # no NUL, which no environment of a process can carry
    with tempfile.TemporaryDirectory(prefix="cutset-bench-") as folder, run_boutique(2, key, Path(folder)) as boutique:
        config, store = load_config(boutique.config_file), Path(folder)
        asyncio.run(_all(explore(config, key=key, store=store)))
        decided = decide(store, "", WISHES, HardenOptions(budget=BUDGET))
        steps = Steps(mesh_file_of(boutique.config_file), apply=Apply.LOCAL, verify=True, explore=False)
        events = asyncio.run(_all(try_out(decided, steps, config, key=key)))
        verification = conclude(decided, steps, events).verification
    assert verification is not None
    return verification.expected_afvr, verification.afvr


async def _all(events: AsyncIterator[TrialEvent]) -> list[TrialEvent]:
    return [event async for event in events]


def main() -> None:
    predicted, measured = afvr_of_boutique()
    print(json.dumps({"afvr_predicted": round(predicted, 4), "afvr_measured": round(measured, 4)}))


if __name__ == "__main__":
    main()
