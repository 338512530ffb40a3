"""A bounded queue that a background thread posts in batches: what the agent says never makes the host wait.

What does not fit is counted and dropped. A batch that the receiver could not take is sent again, until it can or the
process ends; one that it refuses is dropped. A forked child begins with an empty queue and a thread of its own.
"""

from __future__ import annotations

import atexit
import http.client
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

BATCH_SECONDS = 0.1  # how long an item waits for others
RETRY_SECONDS = 1.0
SEND_SECONDS = 5.0
EXIT_SECONDS = 2.0  # a host that ends waits no longer than this for what is left
MAX_BATCH = 200  # items
MAX_BATCH_SIZE = 1 << 20

_outboxes: weakref.WeakSet[Outbox] = weakref.WeakSet()


class Outbox:
    def __init__(self, url: str, content_type: str, encode: Callable[[list[Any]], bytes], limit: int) -> None:
        self.url = urlsplit(url)
        self.content_type = content_type
        self.encode = encode
        self.limit = limit  # the sum of the sizes of what waits
        self.dropped = 0
        self.begin_anew()
        _outboxes.add(self)

    def begin_anew(self) -> None:
        self._items: deque[tuple[Any, int]] = deque()
        self._size = 0
        self._sending = False
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def put(self, item: Any, size: int = 1) -> None:
        with self._lock:
            if self._size + size > self.limit:
                self.dropped += 1
                return
            self._size += size
            self._items.append((item, size))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="cutset-agent", daemon=True)
                self._thread.start()
        self._wake.set()

    def flush(self, seconds: float = EXIT_SECONDS) -> bool:
        """Waits until all is sent; False if that took too long."""
        deadline = time.monotonic() + seconds
        while self._items or self._sending:
            if time.monotonic() > deadline:
                return False
            self._hurry.set()
            time.sleep(0.002)
        return True

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            self._hurry.wait(BATCH_SECONDS)
            self._hurry.clear()
            while self._items:
                self._send_batch()

    def _send_batch(self) -> None:
        self._sending = True  # before the queue is emptied: `flush` looks at both
        batch = self._take_batch()
        try:
            body = self.encode(batch)
            while (status := self._post(body)) == 0 or status in {429, 502, 503, 504}:
                time.sleep(RETRY_SECONDS)
            if status >= 300:
                self.dropped += len(batch)
        except Exception:  # noqa: BLE001 -- the thread must live on
            self.dropped += len(batch)
        finally:
            self._sending = False

    def _take_batch(self) -> list[Any]:
        batch: list[Any] = []
        room = MAX_BATCH_SIZE
        with self._lock:
            while self._items and len(batch) < MAX_BATCH and (not batch or self._items[0][1] <= room):
                item, size = self._items.popleft()
                batch.append(item)
                room -= size
                self._size -= size
        return batch

    def _post(self, body: bytes) -> int:
        """The answer's status, 0 without one. By http.client, which takes no proxy and which no hook touches."""
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.url.hostname or "", self.url.port, timeout=SEND_SECONDS)
        try:
            connection.request("POST", self.url.path, body, {"Content-Type": self.content_type})
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            return 0
        else:
            return answer.status
        finally:
            connection.close()


def _flush_all() -> None:
    for outbox in list(_outboxes):
        outbox.flush()


def _begin_all_anew() -> None:
    for outbox in list(_outboxes):
        outbox.begin_anew()


atexit.register(_flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_all_anew)
