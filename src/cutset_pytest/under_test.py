"""The fixture `cutset`: what the body of a test sends, and what it may ask about the experiment that it is part of."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from cutset.experiment.trial import TrialUnderWay
from cutset.model.fault import BASELINE, Cut, Fault
from cutset_pytest.carrying import carried

Result = TypeVar("Result")
Submit = Callable[[Coroutine[Any, Any, Any]], "Future[Any]"]


@dataclass(frozen=True, slots=True)
class BodyAnswer:
    """An answer, with the names that httpx and requests have."""

    status_code: int
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(repr=False)

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", errors="replace")

    def json(self) -> Any:
        return json.loads(self.content)


@dataclass(slots=True)
class BodyRun:
    """One execution of a body: the plan that it carries, and what it did so far."""

    headers: Mapping[str, str] = field(default_factory=dict)
    trial: TrialUnderWay | None = None  # none: without faults
    sent: int = 0  # requests that carried the plan, as far as we see them
    uncounted: bool = False  # whoever took the headers may have sent any number
    told: Cut | None = None
    waited: float = 0.0  # seconds, for the trace
    cookies: Any = None

    @property
    def cut(self) -> Cut:
        return self.trial.cut if self.trial else BASELINE

    @property
    def exchanges(self) -> int:
        return 0 if self.uncounted else self.sent

    def note_sent(self) -> None:
        """What was told before is of another moment: nobody can hold the whole trace against it."""
        self.sent += 1
        self.told = None

    async def fired(self) -> Cut:
        if self.trial is None or not self.cut:
            return BASELINE
        begin = asyncio.get_running_loop().time()
        self.told = await self.trial.fired(self.exchanges)
        self.waited += asyncio.get_running_loop().time() - begin
        return self.told


class UnderTest:
    """For tests that are plain functions: everything waits until it is there."""

    def __init__(self, url: str, submit: Submit, exchange: Callable[..., Coroutine[Any, Any, BodyAnswer]]) -> None:
        self.url = url  # where experiments enter
        self._submit = submit
        self._exchange = exchange
        self._run = BodyRun()

    @contextmanager
    def running(self, run: BodyRun) -> Generator[None]:
        self._run = run
        try:
            yield
        finally:
            self._run = BodyRun()

    @contextmanager
    def carrying(self) -> Generator[None]:
        """Around the body itself, in its own task: a plan that is there goes with all that it sends."""
        if not self._run.headers:
            yield
            return
        with carried(self._run.headers, self._run.note_sent):
            yield

    @property
    def cut(self) -> Cut:
        """The faults that are planned; none in a run without faults."""
        return self._run.cut

    @property
    def headers(self) -> dict[str, str]:
        """What carries the plan, for a client that does not do so by itself."""
        self._run.uncounted = True
        return dict(self._run.headers)

    @property
    def fired(self) -> Any:
        """The faults that have happened so far, by the word of the mesh: waits for the trace."""
        return self._wait(self._run.fired())

    def fired_only(self, *names: str) -> Any:
        """Whether faults fired, and all of them at these: services, `service/API`s or points."""
        return self._wait(self._fired_only(names))

    def get(self, path: str, **options: Any) -> Any:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> Any:
        return self.request("POST", path, **options)

    def put(self, path: str, **options: Any) -> Any:
        return self.request("PUT", path, **options)

    def delete(self, path: str, **options: Any) -> Any:
        return self.request("DELETE", path, **options)

    def request(self, method: str, path: str, **options: Any) -> Any:
        """`params`, `json`, `data`, `headers`, and `timeout` in seconds; cookies are kept while the body runs."""
        self._run.note_sent()
        headers = {**(options.pop("headers", None) or {}), **self._run.headers}
        return self._wait(self._exchange(self._run, method, self.url + path, headers=headers, **options))

    async def _fired_only(self, names: Iterable[str]) -> bool:
        wanted = set(names)
        fired = await self._run.fired()
        return bool(fired) and all(wanted & _names(fault) for fault in fired)

    def _wait(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return _begun(self._submit, coroutine).result()


class AsyncUnderTest(UnderTest):
    """For tests that are coroutines: what waits is awaited, so that the test's own loop goes on."""

    def _wait(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return Awaited(_begun(self._submit, coroutine))


class Awaited(Awaitable[Result], Generic[Result]):
    """To be awaited: what is not awaited has no truth, and would pass for true."""

    def __init__(self, future: "Future[Result]") -> None:
        self._future = future

    def __await__(self) -> Generator[Any, None, Result]:
        return _as_native(self._future).__await__()

    def __bool__(self) -> bool:
        raise TypeError("in a test that is a coroutine, `cutset.fired` and its like are to be awaited")


async def _as_native(future: "Future[Result]") -> Result:
    """In asyncio's loop, or in whichever AnyIO runs."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        from anyio import to_thread  # noqa: PLC0415 -- whoever runs without asyncio has it

        return await to_thread.run_sync(future.result)
    return await asyncio.wrap_future(future)


def _begun(submit: Submit, coroutine: Coroutine[Any, Any, Any]) -> "Future[Any]":
    """In a context of its own: what we send for the body is not what the body's clients send."""
    return Context().run(submit, coroutine)


def _names(fault: Fault) -> set[str]:
    point = fault.point
    return {point.service, f"{point.service}/{point.api}", str(point.of_api), str(point), str(fault)}
