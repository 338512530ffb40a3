"""Prints for each way to start work whether a plan counts there while others are served; runs in any Python."""
# ruff: noqa: TID251, T201 -- a task that nobody waits for is what it is about

import asyncio

from cutset_agent import reach

found = {}


async def main():
    own = reach.PlanReach()

    async def note(name):
        await asyncio.sleep(0.001)
        found[name] = not own.refusal()

    async def nested():
        await asyncio.gather(asyncio.wait_for(note("nested"), 10))

    await note("own")
    await asyncio.create_task(note("awaited"))
    await asyncio.gather(note("gather"))
    await asyncio.wait_for(note("wait_for"), 10)
    await asyncio.wait([asyncio.create_task(note("wait"))])
    await asyncio.shield(note("shield"))
    await asyncio.gather(nested())
    if hasattr(asyncio, "TaskGroup"):
        async with asyncio.TaskGroup() as group:
            group.create_task(note("group"))
    forgotten = asyncio.create_task(note("forgotten"))
    await asyncio.sleep(0.05)
    assert forgotten.done()


asyncio.run(main())
counting, not_counting = ([name for name, counts in found.items() if counts is wanted] for wanted in (True, False))
print(*counting, "|", *not_counting)
