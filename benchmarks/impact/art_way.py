"""ART's own way (§3.3–3.4, §4.4), as the peer: a fault for everybody, and success before it held against success after.

A plan on every request stands for Istio's VirtualService, which knows no share of users. What is compared, and how, is
ART's: the percentage of good answers of every API of all upstream services, in two windows one after the other, without
any statistics; whatever fell, by however little, is shown to have.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.impact.place import ENVIRONMENT, Place
from benchmarks.impact.users import UsersOrder

from cutset.app.source import spans_of
from cutset.config.explore import load_config
from cutset.lineage.calls import answered_badly, is_mesh_span, sidecar_api
from cutset.model.span import Span

EXPORTED_SECONDS = 0.5  # after the last request, until its spans are here


@dataclass(frozen=True, slots=True)
class ArtResult:
    changes: dict[str, float]  # by API: of the share of good answers, in points from -1 to 1
    user_requests: int
    failed_requests: int  # of users, in both windows

    @property
    def affected(self) -> frozenset[str]:
        return frozenset(api for api, change in self.changes.items() if change < 0)


async def by_art(
    place: Place, fault: str, *, upstream: Sequence[str], paths: Sequence[str], rate: float, seconds: float
) -> ArtResult:
    """`upstream` are the services before the point."""
    config = load_config(place.config_file)
    good: list[dict[str, float]] = []
    requests = failed = 0
    async with spans_of(config.collector) as collector:
        for cut in ("", fault):
            seen: Counter[str] = Counter()
            bad: Counter[str] = Counter()

            def count(spans: Sequence[Span], seen: Counter[str] = seen, bad: Counter[str] = bad) -> None:
                for span in spans:
                    if is_mesh_span(span) and (service := str(span.attributes["cutset.service"])) in upstream:
                        api = f"{service}/{sidecar_api(span)}"
                        seen[api] += 1
                        bad[api] += answered_badly(span)

            stop = collector.subscribe(count)
            order = UsersOrder(place.mesh.entry_url, paths, rate, cut, ENVIRONMENT)
            await asyncio.to_thread(place.users.order, order)
            await asyncio.sleep(seconds)
            tally = await asyncio.to_thread(place.users.rest)
            await asyncio.sleep(EXPORTED_SECONDS)
            stop()
            requests, failed = requests + tally.requests, failed + len(tally.failed)
            good.append({api: 1 - bad[api] / seen[api] for api in seen})
    before, after = good
    return ArtResult({api: after[api] - before[api] for api in before.keys() & after.keys()}, requests, failed)
