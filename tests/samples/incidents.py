"""Small programs that handle most failures well and one badly, each with an incident that shows it.

What happened in the incident is done by real means: something in the standard library fails at one of its calls, as it
would by a full disk or a lost connection. What the program logs then is the failure log.
"""

import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

LOGGING = """\
import logging, sys
logging.basicConfig(
    level=logging.INFO, stream=sys.stdout,
    format="%(asctime)s %(levelname)s [%(threadName)s] %(name)s: %(message)s",
)
"""
# Wraps `where.name` so that its call of this number, counted from 1, raises.
SABOTAGE = """\
def sabotage(where, name, number, error, calls=[0]):
    real = getattr(where, name)
    def wrapped(*args, **kwargs):
        calls[0] += 1
        if calls[0] == number:
            raise error
        return real(*args, **kwargs)
    setattr(where, name, wrapped)
"""


@dataclass(frozen=True)
class Incident:
    name: str
    program: str  # the module `app`
    workload: str
    happened: str  # the sabotage
    oracle: str
    site: str  # where it happened
    occurrence: int
    rounds: int  # the search should be done within so many

    def write(self, folder: Path) -> None:
        """`app.py`, `workload.py` and `failure.log`."""
        (folder / "app.py").write_text(textwrap.dedent(self.program))
        workload = LOGGING + textwrap.dedent(self.workload)
        (folder / "workload.py").write_text(workload)
        script = SABOTAGE + textwrap.dedent(self.happened) + workload
        (folder / "incident").mkdir()
        ran = subprocess.run(
            [sys.executable, "-c", script],
            cwd=folder / "incident",
            env={"PYTHONPATH": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        (folder / "failure.log").write_text(ran.stdout)


CHECKPOINT = Incident(
    name="a checkpoint that fails once is never written again",
    program="""
        import logging, os
        log = logging.getLogger("checkpoints")

        class Counter:
            def __init__(self):
                self.value, self.saved, self.enabled = 0, 0, True

            def add(self):
                self.value += 1
                with open("journal", "a") as journal:
                    journal.write("+")
                if self.value % 3 == 0 and self.enabled:
                    self.save()

            def save(self):
                with open("counter.new", "w") as file:
                    file.write(str(self.value))
                try:
                    os.replace("counter.new", "counter")
                except OSError as error:
                    log.warning("cannot save at %d: %s", self.value, error)
                    self.enabled = False
                    return
                self.saved = self.value
                log.info("saved %d", self.value)
    """,
    workload="""
        from app import Counter
        counter = Counter()
        for _ in range(15):
            counter.add()
        logging.info("counted %d, saved %d", counter.value, counter.saved)
    """,
    happened='import os; sabotage(os, "replace", 3, PermissionError(13, "Permission denied"))\n',
    oracle="log:'counted 15, saved 6'",
    site="app::Counter.save::os.replace",
    occurrence=3,
    rounds=6,
)

CLIENT = Incident(
    name="a new connection in place of a lost one is not logged in",
    program="""
        import logging, socket
        log = logging.getLogger("client")

        class Client:
            def __init__(self, address):
                self.address = address
                self.connection = self.connect()
                self.send(b"login")

            def connect(self):
                log.info("connecting")
                connection = socket.socket()
                connection.connect(self.address)
                return connection

            def send(self, question):
                self.connection.sendall(question)
                return self.connection.recv(100)

            def ask(self, question):
                try:
                    answer = self.send(question)
                except OSError as error:
                    log.warning("lost the connection: %s", error)
                    self.connection = self.connect()
                    return b""
                if answer == b"no":
                    log.warning("refused")
                else:
                    log.info("answered")
                return answer
    """,
    workload="""
        import socket, threading
        from app import Client
        server = socket.create_server(("127.0.0.1", 0))
        def serve():
            while True:
                peer, _ = server.accept()
                threading.Thread(target=answer, args=(peer,), daemon=True).start()
        def answer(peer):
            known = False
            while data := peer.recv(100):
                known |= data == b"login"
                peer.sendall(b"yes" if known else b"no")
        threading.Thread(target=serve, daemon=True).start()
        client = Client(server.getsockname())
        answers = [client.ask(b"question") for _ in range(8)]
        logging.info("%d of 8 answered", answers.count(b"yes"))
    """,
    happened="""
        import socket
        class Socket(socket.socket):
            asked = 0
            def sendall(self, data):
                Socket.asked += data == b"question"
                if Socket.asked == 5 and data == b"question":
                    raise ConnectionResetError(104, "Connection reset by peer")
                return super().sendall(data)
        socket.socket = Socket
    """,
    oracle="log:'4 of 8 answered'",
    site="app::Client.send::self.connection.sendall",
    occurrence=6,  # after the login
    rounds=12,
)

FLUSHER = Incident(
    name="a thread dies, and nobody looks after it",
    program="""
        import logging, os, queue, threading
        log = logging.getLogger("flusher")

        class Flusher:
            def __init__(self):
                self.waiting, self.written = queue.Queue(), 0
                self.thread = threading.Thread(target=self.run, name="flusher", daemon=True)
                self.thread.start()

            def run(self):
                try:
                    with open("data", "ab") as file:
                        number = file.fileno()
                        while (item := self.waiting.get()) is not None:
                            file.write(item)
                            file.flush()
                            os.fsync(number)
                            self.written += 1
                            log.info("wrote %d", self.written)
                finally:
                    log.info("flusher ends")

            def close(self):
                self.waiting.put(None)
                self.thread.join(5)
    """,
    workload="""
        import threading
        threading.excepthook = lambda args: logging.error("thread died", exc_info=args[:3])
        from app import Flusher
        flusher = Flusher()
        for _ in range(6):
            flusher.waiting.put(b"data")
        flusher.close()
        logging.info("%d items left", flusher.waiting.qsize())
    """,
    happened='import os; sabotage(os, "fsync", 4, OSError(5, "Input/output error"))\n',
    oracle="log:'[1-9] items left'",
    site="app::Flusher.run::os.fsync",
    occurrence=4,
    rounds=8,
)

CONSUMER = Incident(
    name="a task that consumes ends, and the producer waits",
    program="""
        import asyncio, json, logging
        log = logging.getLogger("consumer")

        class Consumer:
            def __init__(self):
                self.queue, self.done = asyncio.Queue(maxsize=3), 0

            async def run(self):
                while True:
                    text = await self.queue.get()
                    try:
                        message = json.loads(text)
                        with open("seen", "a") as file:
                            file.write(text)
                    except ValueError as error:
                        log.warning("skipping a message: %s", error)
                        continue
                    except OSError as error:
                        log.error("cannot note message %d: %s", message["id"], error)
                        return
                    self.done += 1
                    log.info("consumed message %d", message["id"])
    """,
    workload="""
        import asyncio, json
        from app import Consumer
        async def main():
            consumer = Consumer()
            task = asyncio.create_task(consumer.run())
            try:
                for number in range(12):
                    await asyncio.wait_for(consumer.queue.put(json.dumps({"id": number})), 1)
                await asyncio.sleep(0.1)
            except TimeoutError:
                logging.error("nobody takes messages any more")
            task.cancel()
            logging.info("%d messages consumed", consumer.done)
        asyncio.run(main())
    """,
    happened="""
        import builtins
        sabotage(builtins, "open", 6, OSError(28, "No space left on device"))
    """,
    oracle="log:'nobody takes messages any more'",
    site="app::Consumer.run::open",
    occurrence=6,
    rounds=8,
)

EQUAL_CALLS = Incident(
    name="nothing in the log tells nine equal calls apart",
    program="""
        import logging, os
        log = logging.getLogger("parts")

        def sync(number):
            for part in range(9):
                try:
                    os.getpgid(0)
                except OSError:
                    if part == 4:
                        log.error("a part of %d is lost", number)
            log.info("synced %d", number)
    """,
    workload="""
        import app
        for number in range(3):
            app.sync(number)
    """,
    happened='import os; sabotage(os, "getpgid", 14, OSError(5, "Input/output error"))\n',
    oracle="log:'a part of 1 is lost'",
    site="app::sync::os.getpgid",
    occurrence=14,
    rounds=4,
)

TYPES = Incident(
    name="only one type of exception gets to the message",
    program="""
        import json, logging, os
        log = logging.getLogger("records")

        def read(number):
            try:
                os.getpgid(0)
                return json.loads('{"id": %d}' % number)
            except ValueError:
                log.warning("bad record %d", number)
            except OSError:
                log.info("no record %d", number)

        def run(count):
            for number in range(count):
                read(number)
                log.info("record %d", number)
    """,
    workload="""
        import app
        app.run(5)
    """,
    happened='import json; sabotage(json, "loads", 3, ValueError("Expecting value"))\n',
    oracle="log:bad record 2",
    site="app::read::json.loads",
    occurrence=3,
    rounds=2,
)

INCIDENTS = (CHECKPOINT, CLIENT, FLUSHER, CONSUMER, EQUAL_CALLS, TYPES)
