import asyncio
import json
import uuid

import nats

from cutset_demo.flaws.poison_message import DEAD_LETTERS, subject

POISON = json.dumps({"parcel_id": "never", "weight": 10**12}).encode()  # more than the database's integers hold
POISONED = 250  # so many that hardly a worker of the queue group gets none


def publish_poison(settings):
    """The dead letters that came of it, when all were put aside or some time has passed."""

    async def publish():
        letters = []

        async def note(message):
            letters.append(message.data)

        client = await nats.connect(settings.nats)
        await client.subscribe(DEAD_LETTERS, cb=note)
        for _ in range(POISONED):
            await client.publish(subject(settings), POISON)
        await client.flush()
        for _ in range(10 if settings.broken else 400):
            await asyncio.sleep(0.05)
            if len(letters) == POISONED:
                break
        await client.close()
        return letters

    return asyncio.run(publish())


def sorted_of(client, parcels):
    answers = [client.post("/parcels", json={"parcel_id": str(uuid.uuid4()), "weight": 3}) for _ in range(parcels)]
    return sum(answer.status_code == 201 for answer in answers)


def test_messages_that_never_succeed_keep_all_workers(start, stores):
    client = start("poison-message", "broken")
    assert sorted_of(client, 3) == 3
    assert publish_poison(stores.settings("broken")) == []
    assert sorted_of(client, 2) <= 1


def test_messages_that_never_succeed_are_put_aside(start, stores):
    client = start("poison-message", "correct")
    assert publish_poison(stores.settings("correct")) == [POISON] * POISONED
    assert sorted_of(client, 20) == 20
