"""Requests that a user's function makes: `async def checkout(call)`, or a plain function, which runs in a thread.

What it is given sends requests that carry the plan, and has the headers for clients of its own. What it returns is the
answer that the user gets; what it raises is that there is none.
"""

import asyncio
import inspect
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cutset.errors import UsageError
from cutset.model.request import Errand, Response, Step
from cutset.workload.filling import SESSION

JSON_TYPE, TEXT_TYPE = "application/json", "text/plain; charset=utf-8"


class WorkloadCall:
    """One request under test, for an `async` function."""

    def __init__(self, errand: Errand) -> None:
        self.url = errand.url  # of the target
        self.session = errand.values[SESSION]  # a name that no other experiment has
        self.values = dict(errand.values)  # what set-up steps have taken
        self.sent = 0
        self.over = False  # a thread cannot be stopped, but what it sends is no part of the experiment any more
        self.given_away = False  # whether others may have sent requests with these headers
        self._errand = errand

    @property
    def headers(self) -> dict[str, str]:
        """For clients of the function's own: all that it sends with them is part of the experiment."""
        self.given_away = True
        return dict(self._errand.headers)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The same for gRPC."""
        return tuple((name.lower(), value) for name, value in self.headers.items())

    async def request(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: object = None,
        form: Mapping[str, str] | None = None,
        body: str | None = None,
    ) -> Response:
        """Below the target's URL, in the session of the set-up steps. Raises ConnectionError if there is no answer."""
        if self.over:
            raise ConnectionError(f"{method} {path.partition('?')[0]}: not sent, the time of this request is over")
        self.sent += 1
        response = await self._errand.send(Step(method, path, headers or {}, form, json, body))
        if response.error:
            raise ConnectionError(f"{method} {path.partition('?')[0]}: {response.error}")
        return response

    async def get(self, path: str, **options: Any) -> Response:
        return await self.request("GET", path, **options)

    async def post(self, path: str, **options: Any) -> Response:
        return await self.request("POST", path, **options)


class PlainWorkloadCall:
    """The same for a function that is not `async`."""

    def __init__(self, call: WorkloadCall, loop: asyncio.AbstractEventLoop) -> None:
        self.url, self.session, self.values = call.url, call.session, call.values
        self._call, self._loop = call, loop

    @property
    def headers(self) -> dict[str, str]:
        return self._call.headers

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        return self._call.metadata

    def request(self, method: str, path: str, **options: Any) -> Response:
        return asyncio.run_coroutine_threadsafe(self._call.request(method, path, **options), self._loop).result()

    def get(self, path: str, **options: Any) -> Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> Response:
        return self.request("POST", path, **options)


async def run_function(name: str, function: Callable[..., Any], errand: Errand) -> Response:
    call = WorkloadCall(errand)
    try:
        if inspect.iscoroutinefunction(function):
            returned = await function(call)
        else:
            returned = await _in_thread(function, PlainWorkloadCall(call, asyncio.get_running_loop()))
        response = await response_of(name, await returned if inspect.isawaitable(returned) else returned)
    finally:
        call.over = True
    if errand.under_test and not call.sent and not call.given_away:
        raise UsageError(
            f"The workload `{name}` sent nothing with the headers that carry the plan",
            hint="Send by `call.get(…)`, or with a client of your own and `headers=call.headers`",
        )
    return replace(response, exchanges=0 if call.given_away else call.sent)


async def _in_thread(function: Callable[..., Any], call: PlainWorkloadCall) -> Any:
    """A thread that nobody waits for at the end: one cannot be stopped when the time is over."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(settled: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            settled(value)

    def run() -> None:
        try:
            outcome = (done.set_result, function(call))
        except StopIteration as error:  # which a future does not take
            outcome = (done.set_exception, RuntimeError(f"StopIteration: {error}"))
        except BaseException as error:  # noqa: BLE001 -- it is told to whoever waits
            outcome = (done.set_exception, error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=run, name=f"workload {function.__name__}", daemon=True).start()
    return await done


async def response_of(name: str, returned: Any) -> Response:
    """Of what functions return: answers of the usual clients, JSON, text, bytes, or nothing."""
    match returned:
        case None:
            return Response(200)
        case Response():
            return returned
        case str():
            return Response(200, TEXT_TYPE, returned.encode())
        case bytes():
            return Response(200, body=returned)
        case dict() | list():
            return Response(200, JSON_TYPE, json.dumps(returned, default=str).encode())
        case _:
            return await _of_client(name, returned)


async def _of_client(name: str, answer: Any) -> Response:
    """`status_code` and `content` of httpx and requests, `status` and `text()` of aiohttp, and ours."""
    status = getattr(answer, "status_code", getattr(answer, "status", None))
    headers = getattr(answer, "headers", None)
    if not isinstance(status, int) or not isinstance(headers, Mapping):
        raise UsageError(
            f"The workload `{name}` returned {type(answer).__name__}, which says nothing of an answer",
            hint="Return the response of httpx, requests, aiohttp or `call`, something for JSON, a text, or nothing",
        )
    body = getattr(answer, "content", b"")
    if not isinstance(body, bytes):
        body = (await answer.text("latin-1")).encode("latin-1")  # what was read can be had by `read` no more
    told = tuple((str(key), str(value)) for key, value in headers.items())
    return Response(status, headers.get("content-type", headers.get("Content-Type", "")), body, headers=told)
