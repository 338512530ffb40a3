"""Users: an open loop of sessions of several requests each, told apart by a header, on the loopback interface alone.

    python -m benchmarks.impact.users   in a process of its own, so that who measures does not disturb who is measured

It reads orders from stdin, one JSON object per line, and answers each with one line: what became of the requests since
the order before. The end of its input, or `MAX_SECONDS` after an order, ends it. Each request names its own trace, by
which what failed is told apart from what was marked.
"""

import asyncio
import json
import random
import secrets
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import uvloop

from cutset.inject.plan import plan_headers
from cutset.inject.signing import signer_of
from cutset.model.fault import Fault

USER_HEADER = "x-user"
SESSION_REQUESTS = 3  # of each user
THERE_AT_ONCE = 50  # users in the middle of a session
MAX_UNDER_WAY = 400  # more than that are not sent, and counted: a system that hangs must not take the machine with it
MAX_SECONDS = 900.0
ANSWER_SECONDS = 20.0
PLAN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class UsersOrder:
    """What users do from now on."""

    url: str = ""
    paths: Sequence[str] = ()  # each as likely as any other
    rate: float = 0.0  # requests per second, all users together; 0: nothing
    cut: str | None = None  # ART's way: a plan on every request, with this fault or, if empty, with none
    environment: str = ""


@dataclass(slots=True)
class UsersTally:
    requests: int = 0
    not_sent: int = 0
    failed: dict[str, str] = field(default_factory=dict)  # trace id -> path, and how
    by_path: dict[str, int] = field(default_factory=dict)
    milliseconds: dict[str, float] = field(default_factory=dict)  # p50, p75, p99


class Users:
    """As the process that measures has them."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def order(self, order: UsersOrder) -> UsersTally:
        """Returns what became of requests under the order before."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(order)).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the users are gone")
        return UsersTally(**json.loads(line))

    def rest(self) -> UsersTally:
        return self.order(UsersOrder())


@contextmanager
def users(key: bytes = b"") -> Iterator[Users]:
    process = subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(key + b"\n")
        process.stdin.flush()
        yield Users(process)
    finally:
        process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


class _Crowd:
    """In the process of the users."""

    def __init__(self, session: aiohttp.ClientSession, key: bytes) -> None:
        self.order = UsersOrder()
        self.tally = UsersTally()
        self._counted: Counter[str] = Counter()
        self._seconds: list[float] = []
        self._session = session
        self._signer = signer_of(key) if key else None
        self._under_way: set[asyncio.Task[None]] = set()
        self._there: list[list[Any]] = []  # users in the middle of a session, and how many requests are left of it
        self._chance = random.Random()

    async def go_on(self, changed: asyncio.Event) -> None:
        """Arrivals are a Poisson process, as those of many people are."""
        due = time.monotonic()
        while True:
            while not self.order.rate:
                changed.clear()
                await changed.wait()
                due = time.monotonic()
            due = max(due + self._chance.expovariate(self.order.rate), time.monotonic() - 0.1)
            if (pause := due - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            if self.order.rate:
                self._send_next()

    def report(self) -> UsersTally:
        done, self.tally = self.tally, UsersTally()
        done.by_path = dict(self._counted)
        times = sorted(self._seconds)
        if times:
            done.milliseconds = {
                name: round(1000 * times[int(share * len(times))], 2)
                for name, share in (("p50", 0.5), ("p75", 0.75), ("p99", 0.99))
            }
        self._counted, self._seconds = Counter(), []
        return done

    async def settle(self) -> None:
        """Until those under way are answered."""
        if self._under_way:
            await asyncio.wait(tuple(self._under_way))

    def _send_next(self) -> None:
        if len(self._under_way) >= MAX_UNDER_WAY:
            self.tally.not_sent += 1
            return
        task = asyncio.get_running_loop().create_task(self._visit(self._user(), self._chance.choice(self.order.paths)))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    def _user(self) -> str:
        """Any of those who are there, for whom somebody new comes when the session is over."""
        while len(self._there) < THERE_AT_ONCE:
            self._there.append([secrets.token_hex(8), SESSION_REQUESTS])
        session = self._chance.choice(self._there)
        session[1] -= 1
        if not session[1]:
            self._there.remove(session)
        return session[0]

    async def _visit(self, user: str, path: str) -> None:
        trace_id, span_id = secrets.token_hex(16), secrets.token_hex(8)
        begin = time.monotonic()
        self.tally.requests += 1
        self._counted[path] += 1
        try:
            async with self._session.get(
                self.order.url + path,
                headers={USER_HEADER: user} | self._context(trace_id, span_id),
                timeout=aiohttp.ClientTimeout(ANSWER_SECONDS),
            ) as response:
                await response.read()
                failure = f"answered {response.status}" if response.status >= 500 else ""
        except (aiohttp.ClientError, TimeoutError) as error:
            failure = repr(error)
        self._seconds.append(time.monotonic() - begin)
        if failure:
            self.tally.failed[trace_id] = f"{path} {failure}"

    def _context(self, trace_id: str, span_id: str) -> Mapping[str, str]:
        if self.order.cut is None or self._signer is None:
            return {"traceparent": f"00-{trace_id}-{span_id}-01"}
        return plan_headers(
            frozenset({Fault.parse(self.order.cut)} if self.order.cut else ()),
            trace_id=trace_id,
            span_id=span_id,
            key=self._signer,
            environment=self.order.environment,
            expires=time.time() + PLAN_SECONDS,
        )


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    key = (await reader.readline()).strip()
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=600), trust_env=False
    ) as session:
        crowd, changed = _Crowd(session, key), asyncio.Event()
        going_on = loop.create_task(crowd.go_on(changed))
        try:
            async with asyncio.timeout(MAX_SECONDS) as limit:
                while line := await reader.readline():
                    limit.reschedule(loop.time() + MAX_SECONDS)
                    order = UsersOrder(**json.loads(line))
                    if order.url and urlsplit(order.url).hostname != "127.0.0.1":
                        raise SystemExit(f"users stay on this machine: {order.url}")
                    crowd.order, stops = order, not order.rate
                    changed.set()
                    if stops:
                        await crowd.settle()
                    sys.stdout.write(json.dumps(asdict(crowd.report())) + "\n")
                    sys.stdout.flush()
        finally:
            going_on.cancel()


if __name__ == "__main__":
    uvloop.run(_serve())
