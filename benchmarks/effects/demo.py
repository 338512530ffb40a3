"""Effects on the boutique: how long it takes to find what the answer key says, and what of it data stores show.

`make bench-effects` has these keys of it:

    demo_effects_seconds   both campaigns of `cutset demo`, from the first request to the last verdict
    max_rounds_demo        most rounds that any request class took
    datastore_points       calls of data stores, caches and brokers that are points
    datastore_cuts_found   cuts with one of them that were found; `datastore_cuts` are those of the answer key
    demo_wrong             differences from the answer key, and what is not complete
"""

import asyncio
import secrets
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from cutset.app.demo import answer_key, check_answers, run_boutique, with_more_effects
from cutset.app.explore import explore
from cutset.config.explore import Config, adjusted, load_config
from cutset.lineage.path import Level
from cutset.model.fault import Cut
from cutset.model.summary import CampaignSummary, summarise

QUICK_REQUESTS = ("POST /cart", "GET /product-meta/{id}")
REPLICAS = 2


def measure(*, quick: bool) -> dict[str, object]:
    """`quick`: the request classes with the fewest calls alone."""
    with tempfile.TemporaryDirectory(prefix="cutset-bench-") as folder:
        key, store = secrets.token_hex(32).encode(), Path(folder)
        with run_boutique(REPLICAS, key, store, agents=True) as boutique:
            config = replace(load_config(boutique.config_file), mesh=boutique.mesh.spec)
            chosen = [config, with_more_effects(config)]
            if quick:
                chosen = [_without_others(each) for each in chosen]
            start = time.perf_counter()
            summaries = [asyncio.run(_explored(each, key, store)) for each in chosen]
            seconds = time.perf_counter() - start
    return {"demo_effects_seconds": round(seconds, 1)} | _told(summaries)


def _without_others(config: Config) -> Config:
    names = [request.name for request in config.requests if request.name in QUICK_REQUESTS]
    return adjusted(config, requests=names)


async def _explored(config: Config, key: bytes, store: Path) -> CampaignSummary:
    return summarise([event async for event in explore(config, key=key, store=store)])


def _told(summaries: list[CampaignSummary]) -> dict[str, object]:
    requests = [request for summary in summaries for request in summary.requests]
    points = {point for request in requests for point in request.calls if point.is_store}
    found: set[tuple[str, Cut]] = set()
    expected: set[tuple[str, Cut]] = set()
    wrong = 0
    for summary in summaries:
        key = answer_key(summary, Level.API, REPLICAS, agents=True)
        check = check_answers(summary, key)
        wrong += len(check.wrong) + len(check.unfinished)
        expected |= {(name, cut) for name, cuts in key.items() for cut in cuts if _of_store(cut)}
        found |= {
            (each.name, finding.cut) for each in summary.requests for finding in each.findings if _of_store(finding.cut)
        }
    return {
        "max_rounds_demo": max(request.rounds for request in requests),
        "datastore_points": len(points),
        "datastore_cuts": len(expected),
        "datastore_cuts_found": len(found & expected),
        "demo_wrong": wrong,
    }


def _of_store(cut: Cut) -> bool:
    return any(fault.point.is_store for fault in cut)
