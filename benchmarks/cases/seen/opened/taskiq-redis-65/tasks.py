"""What the worker does. Each task notes its begin and its end in a journal."""
import asyncio
import os

from taskiq_redis import ListQueueBroker

broker = ListQueueBroker(os.environ["BROKER"])


def note(text: str) -> None:
    with open(os.environ["JOURNAL"], "a") as journal:
        journal.write(text + "\n")


@broker.task
async def notify(customer: int) -> None:
    await asyncio.sleep(0.01)
    note("end notify-%d" % customer)


@broker.task
async def report(month: str) -> None:
    note("begin report-%s" % month)
    print("report for %s begun" % month, flush=True)
    await asyncio.sleep(1.2)
    note("end report-%s" % month)
    print("report for %s written" % month, flush=True)
