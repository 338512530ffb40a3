import asyncio

from cutset.experiment.floor import Floor


def test_who_must_be_alone_waits_for_the_others_and_keeps_them_out():
    floor, order = Floor(), []

    async def share(name: str) -> None:
        async with floor.shared():
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    async def be_alone() -> None:
        async with floor.alone():
            order.append("alone")
            await asyncio.sleep(0)
            order.append("no more")

    async def all_at_once() -> None:
        await asyncio.gather(share("first"), share("second"), be_alone(), be_alone(), share("late"))

    asyncio.run(all_at_once())

    assert order == [
        *("first begins", "second begins", "first ends", "second ends"),
        *("alone", "no more", "alone", "no more"),
        *("late begins", "late ends"),
    ]
