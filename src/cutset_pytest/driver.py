"""The laboratory beside pytest: its event loop is in a thread of its own, and bodies run in pytest's, one at a time.

Whatever the laboratory wants sent is put into a queue, which pytest's thread works off until the campaign is over.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

import aiohttp
import pytest
from yarl import URL

from cutset.app.testing import PlaceForTests, opened_for_tests
from cutset.experiment.mesh_laboratory import MeshLaboratory
from cutset.experiment.trial import UNDER_WAY
from cutset.model.fault import Cut
from cutset.model.request import Expectation, FunctionStep, Request, Response
from cutset.workload.send import open_client
from cutset_pytest.under_test import BodyAnswer, BodyRun

Result = TypeVar("Result")
CONNECTIONS = 100
PASSED = 200  # the status of a body that ended without an error: any that is the same each time
PATIENCE_SECONDS = 60.0  # that a body may take beyond its answers and their traces, before its outcome is "no answer"
TEXT_LENGTH = 200  # characters of an exception that are quoted

_JUDGED = (Exception, pytest.fail.Exception, pytest.xfail.Exception)


@dataclass(slots=True)
class BodyJob:
    """An execution of the body that the laboratory waits for."""

    run: BodyRun
    done: "Future[Response]" = field(default_factory=Future)


@dataclass(slots=True)
class Bodies:
    """The executions of one test."""

    body: Callable[[BodyRun], None]  # raises what the body raises
    jobs: "queue.SimpleQueue[BodyJob | None]" = field(default_factory=queue.SimpleQueue)  # None: it is over
    errors: dict[Cut, BaseException] = field(default_factory=dict)  # the latest, by what was injected
    passed: bool = False  # once, at least
    runs: int = 0

    def request(self, name: str, max_seconds: float | None, trace_timeout: float) -> Request:
        expect = Expectation(status=(PASSED,), max_seconds=max_seconds or Expectation().max_seconds)
        return Request(name, FunctionStep(name, self.ask, PATIENCE_SECONDS + trace_timeout), expect=expect)

    async def ask(self, headers: Mapping[str, str]) -> Response:
        """In the laboratory's thread."""
        job = BodyJob(BodyRun(headers, UNDER_WAY.get()))
        self.jobs.put(job)
        answered = asyncio.wrap_future(job.done)
        try:
            return await asyncio.shield(answered)
        except asyncio.CancelledError:
            # A body cannot be stopped from here. Nothing else is sent before it has ended.
            if not job.done.cancel():
                await asyncio.wait([answered])
            raise

    def serve(self) -> None:
        """In pytest's thread, until the campaign is over. Raises what ends the test at once."""
        while (job := self.jobs.get()) is not None:
            if job.done.set_running_or_notify_cancel():
                try:
                    response = self._response(job.run)
                except BaseException:
                    job.done.set_result(Response(error="the test was ended", sent=False))
                    raise
                job.done.set_result(response)

    def refuse(self) -> None:
        """Until it is over: whoever still asks is told that nothing is sent any more."""
        while (job := self.jobs.get()) is not None:
            job.done.cancel()

    def _response(self, run: BodyRun) -> Response:
        begin, error, void = time.perf_counter(), "", ""
        self.runs += 1
        try:
            self.body(run)
            self.passed = True
        except pytest.exit.Exception:
            raise
        except pytest.skip.Exception as skipped:
            if not run.cut:
                raise
            void = f"the test skipped itself: {skipped.msg}"
        except _JUDGED as caught:
            if not self.passed and not run.cut:
                raise  # it fails without any fault
            self.errors[run.cut] = caught
            error = _text(caught)
        return Response(
            0 if error else PASSED,
            seconds=time.perf_counter() - begin - run.waited,
            error=error,
            sent=run.uncounted or run.sent > 0,
            exchanges=run.exchanges,
            told=run.told,
            void=void,
        )


class Driver:
    """For all tests of one configuration."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="cutset-laboratory", daemon=True)
        self._thread.start()
        self._laboratory: MeshLaboratory | None = None
        self._keeper: asyncio.Task[None] | None = None  # keeps it open
        self._client: aiohttp.ClientSession | None = None
        self.notes: list[str] = []

    def submit(self, coroutine: Coroutine[Any, Any, Result]) -> "Future[Result]":
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def serve(
        self,
        place: PlaceForTests,
        request: Request,
        bodies: Bodies,
        work: Callable[[MeshLaboratory], Coroutine[Any, Any, Result]],
    ) -> Result:
        """Runs bodies here until the work, there, is done."""

        async def until_done() -> Result:
            try:
                return await work(await self._open(place, request))
            finally:
                bodies.jobs.put(None)

        done = self.submit(until_done())
        try:
            bodies.serve()
        except BaseException:
            done.cancel()
            bodies.refuse()
            raise
        return done.result()

    async def exchange(self, run: BodyRun, method: str, url: str, **options: Any) -> BodyAnswer:
        """What the fixture sends itself. Redirects are answers."""
        if self._client is None:
            self._client = open_client(CONNECTIONS)
        run.cookies = aiohttp.CookieJar(unsafe=True) if run.cookies is None else run.cookies
        limit = aiohttp.ClientTimeout(total=options.pop("timeout", None))
        cookies = {name: morsel.value for name, morsel in run.cookies.filter_cookies(URL(url)).items()}
        sent = {"cookies": cookies, "timeout": limit, "allow_redirects": False, **options}
        async with self._client.request(method, url, **sent) as response:
            run.cookies.update_cookies(response.cookies, response.url)
            return BodyAnswer(response.status, response.headers.copy(), await response.read())

    def close(self) -> None:
        self.submit(self._close()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        if self._client is not None:
            await self._client.close()
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])

    async def _open(self, place: PlaceForTests, request: Request) -> MeshLaboratory:
        """Once for all tests; the check-up before all experiments is made with the first of them."""
        if self._laboratory is None:
            opened: asyncio.Future[MeshLaboratory] = self._loop.create_future()
            self._keeper = self._loop.create_task(self._keep(place, request, opened))
            self._laboratory = await opened
        return self._laboratory

    async def _keep(self, place: PlaceForTests, request: Request, opened: "asyncio.Future[MeshLaboratory]") -> None:
        try:
            async with opened_for_tests(place, request, self.notes.append) as laboratory:
                opened.set_result(laboratory)
                await asyncio.Event().wait()  # until it is cancelled
        except Exception as error:  # noqa: BLE001 -- it is whoever waits for the laboratory who is to see it
            if not opened.done():
                opened.set_exception(error)


def _text(error: BaseException) -> str:
    """Its first line: pytest explains an assertion in more of them."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:TEXT_LENGTH].removesuffix(": ")
