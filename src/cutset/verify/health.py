"""Whether requests still work: each is sent some times without faults, and held against what it answered before.

Unlike an experiment this needs no trace: a user has none either. An answer that lacks a part, or comes after its time,
is one that worked before and does not now.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from cutset.model.request import Request

RUNS = 10  # of each request: of a failure in four, all but one in eighteen would be seen
PARALLEL = 2


class LivingLaboratory(Protocol):
    async def still_works(self, request: Request) -> str:
        """Sends the request once, without faults. Returns what is wrong with its answer; empty if nothing is."""
        ...


async def ill_requests(laboratory: LivingLaboratory, requests: Sequence[Request]) -> dict[str, str]:
    """By request, what is wrong with it, and how often."""
    limit = asyncio.Semaphore(PARALLEL)

    async def once(request: Request) -> tuple[str, str]:
        async with limit:
            return request.name, await laboratory.still_works(request)

    wrong: dict[str, list[str]] = {}
    for name, problem in await asyncio.gather(*(once(request) for _ in range(RUNS) for request in requests)):
        if problem:
            wrong.setdefault(name, []).append(problem)
    return {name: f"{len(found)} of {RUNS} times: {found[0]}" for name, found in sorted(wrong.items())}


def in_words(ill: dict[str, str]) -> str:
    return "; ".join(f"`{name}` {problem}" for name, problem in ill.items())
