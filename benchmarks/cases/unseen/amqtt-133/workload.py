"""An MQTT broker in a house: two sensors publish readings, a display and an archive have subscribed to them."""
import asyncio
import logging
import sys
import warnings

import wl
from amqtt.broker import Broker
from amqtt.client import MQTTClient
from amqtt.mqtt.constants import QOS_1

READINGS, SENSORS = 24, ("indoors", "outdoors")
log = logging.getLogger("house")


async def subscriber(url: str, name: str, received: list) -> None:
    client = MQTTClient(client_id=name, config={"auto_reconnect": False})
    await client.connect(url)
    await client.subscribe([("house/+/temperature", QOS_1)])
    while True:
        message = await client.deliver_message()
        received.append(bytes(message.data).decode())
        log.info("%s: %s = %s", name, message.topic, received[-1])


async def sensors(url: str) -> int:
    clients = {name: MQTTClient(client_id=name, config={"auto_reconnect": False}) for name in SENSORS}
    for client in clients.values():
        await client.connect(url)
    sent = 0
    for number in range(READINGS):
        name = SENSORS[number % 2]
        try:
            reading = b"%s %d" % (name.encode(), number)
            await asyncio.wait_for(clients[name].publish(f"house/{name}/temperature", reading, qos=QOS_1), 1)
            sent += 1
        except (asyncio.CancelledError, asyncio.TimeoutError):
            log.warning("reading %d of %s not sent", number, name)
        await asyncio.sleep(0.05)
    return sent


async def main() -> None:
    port = wl.free_port()
    broker = Broker(
        {
            "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}}, "sys_interval": 0,
            "auth": {"allow-anonymous": True}, "topic-check": {"enabled": True, "plugins": ["topic_taboo"]},
        }
    )
    await broker.start()
    url = f"mqtt://127.0.0.1:{port}/"
    received: dict = {"display": [], "archive": []}
    tasks = [asyncio.ensure_future(subscriber(url, name, got)) for name, got in received.items()]
    await asyncio.sleep(0.3)
    sent = await sensors(url)
    await asyncio.sleep(0.3)
    lost = {
        f"{name} of {reader}": READINGS // 2 - sum(reading.startswith(name) for reading in set(got))
        for reader, got in received.items() for name in SENSORS
    }
    log.info("%d readings sent, lost: %s", sent, lost)
    wl.report(sent=sent, readings=READINGS, subscribers=sum(not task.done() for task in tasks), lost=lost)
    wl.finish()


warnings.simplefilter("ignore")
logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="[%(asctime)s] :: %(levelname)s - %(message)s")
for chatty in ("transitions", "amqtt.broker.plugins"):
    logging.getLogger(chatty).setLevel(logging.WARNING)
asyncio.get_event_loop().run_until_complete(main())
