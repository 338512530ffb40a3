"""A real edge before one small service that tells what reached it, and a marker: here, or in a process of its own."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest.mock import patch

import aiohttp
from aiohttp import web

from cutset.inject.local.marking_switch import is_heard, set_share
from cutset.inject.local.mesh import Mesh, run_mesh
from cutset.inject.marking.marker import Marker, MarkingOrder
from cutset.inject.marking.service import serve_marker
from cutset.model.expect import split_address
from cutset.model.fault import Fault
from cutset.model.impact import Group, Mark, UserKey
from cutset.model.mesh import MeshService, MeshSpec
from cutset_agent.carriers import read_plan

HOST = "127.0.0.1"
KEY = b"a key for tests that nobody guesses"
ENVIRONMENT = "test"
FAULT = frozenset({Fault.parse("web/*:abort(503)")})
ORDER = MarkingOrder(FAULT, ENVIRONMENT, ("tracestate", "baggage"), life=5.0)
PATIENCE_SECONDS = 30  # for what happens within one on a machine that is not busy
PATIENT_SECONDS = 2.0
PARALLEL = 4
BATCH = 50
ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    group: Group
    seen: Mapping[str, str]  # headers, as the service saw them; empty if it did not


@dataclass(eq=False)
class Edge:
    mesh: Mesh
    session: aiohttp.ClientSession

    async def send(self, path: str = "/", headers: Mapping[str, str] | None = None, method: str = "GET") -> Reply:
        async with self.session.request(method, self.mesh.edge_url + path, headers=headers) as answer:
            body = await answer.read()
            if "x-cutset-fault" in answer.headers:
                return Reply(answer.status, Group.FAULT, {})
            seen = json.loads(body)
            return Reply(answer.status, group_seen(seen), seen)

    async def send_all(self, requests: Sequence[tuple[str, Mapping[str, str]]]) -> list[Reply]:
        """Those of which every question was answered in time; others, which are left alone, are sent once more.

        That is for machines that are busy with other things.
        """
        replies: list[Reply] = []
        for first in range(0, len(requests), BATCH):
            replies += await self._answered(requests[first : first + BATCH])
        return replies

    async def _answered(self, requests: Sequence[tuple[str, Mapping[str, str]]]) -> list[Reply]:
        for _ in range(ATTEMPTS):
            before = await self.unanswered()
            replies = await self.send_anyway(requests)
            if await self.unanswered() == before:
                return replies
            await self.is_heard()
        raise AssertionError("nothing went by without a question that was not answered in time")

    async def send_anyway(self, requests: Sequence[tuple[str, Mapping[str, str]]]) -> list[Reply]:
        """A few at a time; in the order of the requests."""
        replies: dict[int, Reply] = {}
        left = iter(enumerate(requests))

        async def some() -> None:
            for number, (path, headers) in left:
                replies[number] = await self.send(path, headers)

        async with asyncio.TaskGroup() as group:
            for _ in range(PARALLEL):
                group.create_task(some())
        return [replies[number] for number in sorted(replies)]

    async def is_heard(self, expected: bool = True) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await is_heard(self.mesh.admin_url) != expected:  # noqa: ASYNC110 -- Envoy tells who asks
                await asyncio.sleep(0.02)

    async def asked(self) -> int:
        counts = await self._counts()
        return counts["ok"] + counts["failure_mode_allowed"]

    async def unanswered(self) -> int:
        return (await self._counts())["failure_mode_allowed"]

    async def timeouts(self) -> int:
        """Requests that have waited for an answer in vain."""
        return (await self._statistics("^cluster.cutset-marker.upstream_rq_timeout")).get("upstream_rq_timeout", 0)

    async def _counts(self) -> dict[str, int]:
        return {"ok": 0, "failure_mode_allowed": 0} | await self._statistics("^http.edge.ext_authz.cutset")

    async def _statistics(self, names: str) -> dict[str, int]:
        async with self.session.get(f"{self.mesh.admin_url}/stats?format=json&filter={names}") as answer:
            stats = json.loads(await answer.read())["stats"]
        return {each["name"].rpartition(".")[2]: each["value"] for each in stats if "name" in each}


def group_seen(headers: Mapping[str, str]) -> Group:
    """By the plan that is in them, if it is valid."""
    parts = read_plan(headers.items(), key=KEY, environment=ENVIRONMENT, now=time.time())
    if not parts:
        return Group.OTHERS
    return Group.FAULT if any(part.faults for part in parts) else Group.CONTROL


@asynccontextmanager
async def open_edge(
    work_dir: Path, users: UserKey | None = None, answer_seconds: float = PATIENT_SECONDS
) -> AsyncIterator[Edge]:
    """That waits longer for an answer than a real one, by default: what marks is in this process, and may be busy."""

    async def answer(request: web.Request) -> web.StreamResponse:
        seen = {name.lower(): ",".join(request.headers.getall(name)) for name in request.headers}
        if "upgrade" in seen:
            socket = web.WebSocketResponse()
            await socket.prepare(request)
            async for message in socket:
                await socket.send_str(message.data)
            return socket
        return web.json_response(seen)

    application = web.Application(client_max_size=2**24)
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, HOST, 0).start()
        service = MeshService("web", "http", (f"{HOST}:{runner.addresses[0][1]}",))
        spec = MeshSpec((service,), entry="web", environment=ENVIRONMENT)
        spec = replace(spec, users=users or UserKey())
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector, trust_env=False) as session:
            with (
                patch("cutset.inject.local.marking.ANSWER_SECONDS", answer_seconds),
                run_mesh(spec, key=KEY, work_dir=work_dir) as mesh,
            ):
                yield Edge(mesh, session)
    finally:
        await runner.cleanup()


@dataclass(eq=False)
class Here:
    """A marker in this process."""

    marker: Marker
    marks: list[Mark]
    halted: bool = False
    questions: list[object] = field(default_factory=list)


@asynccontextmanager
async def marking(edge: Edge, share: float, order: MarkingOrder = ORDER, *, salt: str = "run") -> AsyncIterator[Here]:
    marks: list[Mark] = []
    marker = Marker(KEY, salt, may_mark=lambda: not here.halted, on_mark=marks.append)
    here = Here(marker, marks)
    decide = marker.decide

    def noted(asked: object) -> Mapping[str, str]:
        here.questions.append(asked)
        return decide(asked)

    marker.decide = noted
    marker.order = order
    host, port = split_address(edge.mesh.marking)
    async with serve_marker(marker, host=host, port=port):
        await set_share(edge.mesh.admin_url, share, salt=salt)
        await edge.is_heard()
        try:
            yield here
        finally:
            await set_share(edge.mesh.admin_url, 0)


@asynccontextmanager
async def marker_process(
    address: str, halt_file: Path, *, with_fault: bool = True
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Marks all that it is asked about, and half of that with a fault, until there is such a file."""
    arguments = (address, str(halt_file), *(["fault"] if with_fault else []))
    command = (sys.executable, "-m", "tests.samples.marked_edge", *arguments)
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def _serve(address: str, halt_file: Path, *, with_fault: bool) -> None:
    marker = Marker(KEY, "process", may_mark=lambda: not halt_file.exists(), on_mark=lambda _: None)
    marker.order = replace(ORDER, with_fault=with_fault)
    host, port = split_address(address)
    async with serve_marker(marker, host=host, port=port):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], Path(sys.argv[2]), with_fault="fault" in sys.argv[3:]))
