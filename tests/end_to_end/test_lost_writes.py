"""Answers as ever behind which something was not written, by the word of agents."""

import asyncio
from pathlib import Path

from tests.samples.cached_shop import KEY, open_cached_shop

from cutset.app.explore import open_laboratory
from cutset.config.explore import load_config, request_named
from cutset.model.difference import DifferenceKind
from cutset.model.fault import Fault
from cutset.model.outcome import Outcome, Verdict

QUEUE = "web>cache/redis/rpush sessions/0"
CUTS = (
    ("forgetful", f"{QUEUE}:connection-refused"),
    ("careful", f"{QUEUE}:connection-refused"),
    ("trusting", "catalogue/GET /reserve:abort(503)"),
    ("trusting", "catalogue/GET /reserve:delay(1ms)"),
)


async def tried(config_file: Path) -> list[Outcome]:
    config = load_config(config_file)
    async with open_laboratory(config, KEY) as laboratory:
        for page in dict.fromkeys(page for page, _ in CUTS):
            assert (await laboratory.audit(request_named(f"GET /{page}", config.requests))).healthy
        return [
            await laboratory.run(request_named(f"GET /{page}", config.requests), frozenset({Fault.parse(fault)}))
            for page, fault in CUTS
        ]


def test_an_answer_as_ever_behind_which_nothing_was_written_is_degraded(tmp_path: Path) -> None:
    pages = tuple(dict.fromkeys(page for page, _ in CUTS))
    with open_cached_shop(tmp_path, pages) as shop:
        outcomes = asyncio.run(tried(shop.config_file))

    assert [(each.verdict, each.reason) for each in outcomes] == [
        (Verdict.DEGRADED, f"200, but `{QUEUE}` failed"),
        (Verdict.SURVIVED, "200"),
        (Verdict.DEGRADED, "200, but `catalogue>cache/redis/hincrby sessions/0` was not made"),
        (Verdict.SURVIVED, "200"),
    ]
    assert [each.kind for each in outcomes[0].differences] == [DifferenceKind.WRITE]
    assert not outcomes[0].is_wrong
