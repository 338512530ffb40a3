"""The dashboard as a whole: what it answers over a real socket, also to who does not behave."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from tests.samples.opened_dashboard import ORIGIN, opened_dashboard
from tests.samples.recorded_campaign import recorded_campaign

from cutset.errors import InputError, TargetError, UsageError
from cutset.receive.server import listen
from cutset.web.dashboard import Dashboard
from cutset.web.forms import MOST_BYTES, form_of
from cutset.web.frame import PLACES
from cutset.web.pages import traces
from cutset.web.reading import Reading
from cutset.web.security import HEADERS
from cutset.web.server import served_dashboard

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


@dataclass(frozen=True, slots=True)
class Served:
    link: str
    client: aiohttp.ClientSession  # admitted
    host: str  # `127.0.0.1:8017`

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    async def asked(
        self, path: str, method: str = "GET", rest: str = "\r\n"
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """For this path as it is: clients tidy it up."""
        reader, writer = await asyncio.open_connection(*self.host.split(":"))
        cookie = "; ".join(f"{each.key}={each.value}" for each in self.client.cookie_jar)
        writer.write(f"{method} {path} HTTP/1.1\r\nHost: {self.host}\r\nCookie: {cookie}\r\n{rest}".encode("latin-1"))
        return reader, writer

    async def status(self, **headers: str) -> int:
        async with self.client.get(self.url, headers=headers) as answer:
            return answer.status


@asynccontextmanager
async def served(store: Path, *, names: tuple[str, ...] = (), read_only: bool = False) -> AsyncIterator[Served]:
    with ExitStack() as stack:
        dashboard = Dashboard(Reading(store, stack), read_only=read_only)
        async with (
            served_dashboard(dashboard, names=names) as link,
            aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client,
        ):
            where = Served(link, client, f"127.0.0.1:{urlsplit(link).port}")
            async with client.get(f"{where.url}/?{urlsplit(link).query}"):
                yield where


@pytest.fixture
def more_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that do what pages should not do."""

    async def mistaken(_: Request) -> Response:
        raise RuntimeError(f"a secret of the program {HOSTILE}")

    async def explained(request: Request) -> Response:
        kind = {"usage": UsageError, "input": InputError, "target": TargetError}[request.query_params["kind"]]
        raise kind(f"`{HOSTILE}` is wrong", hint=f"Say `{HOSTILE}`")

    async def form(request: Request) -> Response:
        return PlainTextResponse(repr(await form_of(request)))

    async def stream(_: Request) -> Response:
        async def forever() -> AsyncIterator[str]:
            yield "first\n"
            await asyncio.Event().wait()

        return StreamingResponse(forever())

    routes = [
        Route("/mistaken", mistaken),
        Route("/explained", explained, methods=["GET", "POST"]),
        Route("/form", form, methods=["POST"]),
        Route("/stream", stream),
    ]
    monkeypatch.setattr(traces, "ROUTES", [*traces.ROUTES, *routes])


def test_the_link_opens_it_and_shows_where_one_can_go(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as where, where.client.get(where.url) as answer:
            page = await answer.text()
            assert answer.status == 200
            assert re.search(r"token=[\w-]{43}$", where.link)
            for address, name in PLACES:
                assert re.search(f'<a href="{address}"[^>]*>{name}</a>', page)
            assert urlsplit(where.link).query.removeprefix("token=") not in page

    asyncio.run(scenario())


def test_another_name_of_the_host_is_known_when_it_is_given_with_our_port_or_its_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path, names=("Build.Example", "tunnel:9000"), read_only=True) as where:
            port = where.host.rpartition(":")[2]
            assert where.link == f"http://Build.Example:{port}/"
            statuses = {
                name: await where.status(host=name)
                for name in (f"build.example:{port}", "build.example", "tunnel:9000", "tunnel:9001", "other")
            }
            assert list(statuses.values()) == [200, 200, 200, 421, 421]

    asyncio.run(scenario())


def test_nothing_but_the_folder_of_static_files_is_served(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as where:

            async def status(path: str) -> int:
                reader, writer = await where.asked(path)
                line = await reader.readline()
                writer.close()
                return int(line.split()[1])

            assert await status("/static/icon.svg") == 200
            assert await status("/static/style.css") == 200
            for path in (
                "/static/../server.py",
                "/static/..%2Fserver.py",
                "/static/%2e%2e/server.py",
                "/static/%2e%2e%2f%2e%2e%2f%2e%2e%2fetc/passwd",
                "/static//etc/passwd",
                "/static/..\\server.py",
                "/static/%00",
                "/static/",
                "/static",
            ):
                assert await status(path) in (307, 404), path

    asyncio.run(scenario())


@pytest.mark.usefixtures("more_pages")
def test_a_mistake_is_a_calm_page_without_a_traceback_and_told_on_standard_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as where, where.client.get(f"{where.url}/mistaken") as answer:
            page = await answer.text()
            assert answer.status == 500
            assert "<h1>Cutset made a mistake and cannot show this page</h1>" in page
            assert "secret" not in page
            assert "Traceback" not in page
            assert {name: answer.headers[name] for name in HEADERS} == HEADERS

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    (record,) = caplog.records
    assert record.exc_info
    assert "a secret of the program" in str(record.exc_info[1])


@pytest.mark.usefixtures("more_pages")
@pytest.mark.parametrize(("kind", "status"), [("usage", 404), ("input", 500), ("target", 500)])
def test_what_was_wrong_is_told_as_text_with_what_to_do(tmp_path: Path, kind: str, status: int) -> None:
    with opened_dashboard(tmp_path) as (_, browser):
        answer = browser.get("/explained", params={"kind": kind})

    assert answer.status_code == status
    assert "<script>alert" not in answer.text
    assert "<img" not in answer.text
    assert answer.text.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3  # title, heading, hint
    assert answer.text.count("<h1>") == 1


@pytest.mark.usefixtures("more_pages")
def test_what_cannot_be_done_now_is_a_conflict_not_a_missing_page(tmp_path: Path) -> None:
    with opened_dashboard(tmp_path) as (_, browser):
        assert browser.post("/explained?kind=usage", headers=ORIGIN).status_code == 409


@pytest.mark.parametrize(
    "path", ["/nothing", f"/{HOSTILE}", "/campaigns/../nothing", "/%0d%0aSet-Cookie:x=1", "/\u202e"]
)
def test_a_page_that_is_not_there_says_so_and_not_what_was_asked_for(tmp_path: Path, path: str) -> None:
    with opened_dashboard(tmp_path) as (_, browser):
        answer = browser.get(path)

    assert answer.status_code == 404
    assert "<h1>There is no such page</h1>" in answer.text
    assert "alert" not in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.usefixtures("more_pages")
def test_forms_are_bounded_and_slow_ones_keep_nobody_waiting(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as where:
            origin = {"origin": where.url}

            reader, writer = await where.asked("/form", "POST", f"Origin: {where.url}\r\nContent-Length: 9\r\n\r\na=1")
            async with where.client.post(f"{where.url}/form", data=b"x" * MOST_BYTES, headers=origin) as answer:
                assert answer.status == 200
            async with where.client.post(f"{where.url}/form", data=b"x" * (MOST_BYTES + 1), headers=origin) as answer:
                assert answer.status == 413
            squeezed = {**origin, "content-encoding": "br"}
            async with where.client.post(f"{where.url}/form", data=b"x", headers=squeezed) as answer:
                assert answer.status == 415
        assert await reader.read() == b""  # the end of the dashboard is that of who is still sending
        writer.close()

    asyncio.run(scenario())


@pytest.mark.usefixtures("more_pages")
def test_an_open_stream_does_not_keep_the_dashboard_from_closing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as where:
            reader, writer = await where.asked("/stream")
            await reader.readuntil(b"first\n")
        await reader.read()
        writer.close()

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_many_ask_at_once_while_a_ledger_appears(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path / "store") as where:
            recording = asyncio.to_thread(recorded_campaign, tmp_path / "store")
            asked = await asyncio.gather(recording, *(where.status() for _ in range(40)))
            assert set(asked[1:]) == {200}

    asyncio.run(scenario())


def test_what_somebody_damaged_is_told_on_every_page(tmp_path: Path) -> None:
    ledger = recorded_campaign(tmp_path)
    ledger.write_bytes(b"no ledger" * 1000)
    with opened_dashboard(tmp_path) as (_, browser):
        answer = browser.get("/")

    assert answer.status_code == 500
    assert "is not a readable ledger" in answer.text


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    async def scenario() -> None:
        with listen("127.0.0.1", 0, for_what="", hint="") as taken, ExitStack() as stack:
            port = taken.getsockname()[1]
            with pytest.raises(TargetError, match=f"browsers on `127.0.0.1:{port}`: the port is in use"):
                async with served_dashboard(Dashboard(Reading(tmp_path, stack)), port=port):
                    pass

    asyncio.run(scenario())
