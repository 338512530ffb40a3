import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from cutset.guards.settings import UrlCondition
from cutset.guards.url import bad_answer


@asynccontextmanager
async def health() -> AsyncIterator[str]:
    never = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.path == "/hang":
            await never.wait()
        return web.Response(status=int(request.path.removeprefix("/")))

    application = web.Application()
    application.router.add_get("/{path}", handle)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        never.set()
        await runner.cleanup()


def said(path: str, **expected: float) -> str:
    async def ask() -> str:
        async with health() as url, aiohttp.ClientSession() as client:
            return (await bad_answer(UrlCondition(url + path, **expected), client)).replace(url, "URL")

    return asyncio.run(ask())


def test_the_status_decides() -> None:
    assert said("/200") == ""
    assert said("/503") == "URL/503 answered 503, and 200 is expected"
    assert said("/302?token=secret") == "URL/302 answered 302, and 200 is expected"
    assert said("/404", status=404) == ""


def test_so_does_the_time() -> None:
    assert said("/hang", within=0.05) == "URL/hang did not answer within 0.05 s"


def test_and_that_somebody_answers_at_all() -> None:
    async def ask() -> str:
        async with aiohttp.ClientSession() as client:
            return await bad_answer(UrlCondition("http://user:hunter2@127.0.0.1:9/health"), client)

    text = asyncio.run(ask())
    assert text.startswith("http://127.0.0.1:9/health does not answer after ")
    assert "hunter2" not in text
