"""As an attacker would try it: who is refused, who is let in, and what a browser is told."""

import asyncio
from http.cookies import SimpleCookie

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from cutset.web.security import HEADERS, Access, Guarded

HOST = "127.0.0.1:8017"
ACCESS = Access(frozenset({HOST, "localhost:8017", "[::1]:8017"}))
ADMITTED = {"cookie": f"{ACCESS.cookie}={ACCESS.token}"}
OWN = {"origin": f"http://{HOST}"}


async def page(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(f"page {Request(scope).method}")(scope, receive, send)


def client(access: Access = ACCESS) -> TestClient:
    return TestClient(Guarded(page, access), f"http://{HOST}", follow_redirects=False)


OTHER_HOSTS = (
    *("", "evil.example", "evil.example:8017", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8018", "[::1]", "::1:8017"),
    *(
        "localhost:8017.evil.example",
        f"{HOST},evil.example",
        "user@localhost:8017",
        "127.0.0.1:8017 ",
        "2130706433:8017",
    ),
)


@pytest.mark.parametrize("host", OTHER_HOSTS)
def test_another_name_finds_nobody_here_even_with_the_token(host: str) -> None:
    """So that a page which lets its own name point to this machine (DNS rebinding) learns nothing."""
    answer = client().get(f"/?token={ACCESS.token}", headers={"host": host, **ADMITTED})

    assert answer.status_code == 421
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("host", [HOST, "localhost:8017", "LocalHost:8017", "[::1]:8017"])
def test_its_own_names_are_known_in_any_case(host: str) -> None:
    assert client().get("/", headers={"host": host, **ADMITTED}).text == "page GET"


def test_a_host_or_an_origin_said_twice_is_none() -> None:
    def headers(*more: tuple[str, str]) -> list[tuple[str, str]]:
        return [*more, *ADMITTED.items()]

    browser = client()
    for one, other in ((HOST, "evil.example"), ("evil.example", HOST), (HOST, HOST)):
        assert browser.get("/", headers=headers(("host", one), ("host", other))).status_code == 421
    twice = headers(("host", HOST), ("origin", OWN["origin"]), ("origin", "http://evil.example"))
    assert browser.post("/", headers=twice).status_code == 403


@pytest.mark.parametrize(
    "origin",
    [None, "", "null", "http://evil.example", f"http://{HOST}.evil.example", "http://127.0.0.1:8018", "http://127.0.0.1",
     f"ftp://{HOST}", HOST, f"http://{HOST}/", f"http://localhost:8017, http://{HOST}"],
)  # fmt: skip
def test_nobody_acts_from_a_page_of_another_origin(origin: str | None) -> None:
    headers = {**ADMITTED} if origin is None else {**ADMITTED, "origin": origin}

    assert client().post("/", headers=headers).status_code == 403


@pytest.mark.parametrize("origin", [f"http://{HOST}", f"https://{HOST}"])
def test_who_is_admitted_acts_from_the_dashboards_own_pages(origin: str) -> None:
    assert client().post("/", headers={**ADMITTED, "origin": origin}).text == "page POST"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_every_method_that_does_not_only_read_needs_origin_and_token(method: str) -> None:
    browser = client()

    assert browser.request(method, "/", headers=ADMITTED).status_code == 403
    assert browser.request(method, "/", headers=OWN).status_code == 401
    assert browser.request(method, "/", headers={**OWN, **ADMITTED}).status_code == 200


@pytest.mark.parametrize(
    "given",
    ["", "x", ACCESS.token[:-1], f"{ACCESS.token}x", "ä", "\x00", "%00"],
    ids=["none", "short", "too short by one", "too long by one", "beyond ASCII", "NUL", "quoted NUL"],
)
def test_without_the_token_nothing_is_shown(given: str) -> None:
    browser = client()
    cookie = {"cookie": f"{ACCESS.cookie}={given}".encode("latin-1")}

    assert browser.get("/").status_code == 401
    assert browser.head("/").status_code == 401
    assert browser.get("/", params={"token": given}).status_code == 401
    assert browser.get("/", headers=cookie).status_code == 401
    assert browser.get("/", headers={"cookie": f"other={ACCESS.token}"}).status_code == 401


def test_the_link_admits_once_and_leaves_the_token_in_no_address() -> None:
    answer = client().get(f"/graph?campaign=a%20b&token={ACCESS.token}&cut=&x=1&x=2")

    assert answer.status_code == 303
    assert answer.headers["location"] == "/graph?campaign=a+b&cut=&x=1&x=2"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    (cookie,) = SimpleCookie(answer.headers["set-cookie"]).values()
    assert (cookie.key, cookie.value) == (ACCESS.cookie, ACCESS.token)
    assert cookie["httponly"] is True
    assert (cookie["samesite"], cookie["path"], cookie["domain"]) == ("lax", "/", "")


def test_the_token_of_a_link_does_not_act() -> None:
    assert client().post(f"/?token={ACCESS.token}", headers=OWN).status_code == 401


@pytest.mark.parametrize("path", ["//evil.example", "//evil.example/", "/%2Fevil.example", "/%5Cevil.example",
    "/%5C%5Cevil.example", "/%09/evil.example", "/%0D%0ALocation:%20http://evil.example", "/.//evil.example",
    "/a%3Fb", "/a%23b", "/%C3%A4"])  # fmt: skip
def test_the_link_leads_nowhere_else(path: str) -> None:
    answer = client().get(f"http://{HOST}{path}?token={ACCESS.token}")

    assert answer.status_code == 303
    assert ACCESS.token not in answer.headers["location"]
    assert "\r" not in answer.headers["location"]
    assert answer.next_request
    assert answer.next_request.url.host == "127.0.0.1"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_read_only_nobody_acts_not_even_with_the_token(method: str) -> None:
    shared = Access(frozenset({HOST}), ACCESS.token, read_only=True)

    answer = client(shared).request(method, "/", headers={**ADMITTED, **OWN})

    assert (answer.status_code, answer.text) == (403, "This dashboard is read-only")


def test_read_only_everybody_sees_all_by_its_own_name() -> None:
    browser = client(Access(frozenset({HOST}), read_only=True))

    assert browser.get("/").status_code == 200
    assert browser.get("/", headers={"host": "evil.example"}).status_code == 421


def test_every_answer_tells_browsers_what_pages_may_do() -> None:
    for answer in (client().get("/"), client().get("/", headers=ADMITTED), client().get("/", headers={"host": "x"})):
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    policy = HEADERS["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "default-src 'none';" in policy


def test_each_dashboard_has_a_token_and_a_cookie_of_its_own() -> None:
    one, other = Access(frozenset({"127.0.0.1:1", "localhost:1"})), Access(frozenset({"127.0.0.1:2", "localhost:2"}))

    assert one.token != other.token
    assert len(one.token) >= 43
    assert one.token not in repr(one)
    assert one.cookie != other.cookie


def test_a_websocket_reaches_nobody() -> None:
    reached = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope)

    async def nothing(*_: object) -> Message:
        raise AssertionError

    asyncio.run(Guarded(application, ACCESS)({"type": "websocket", "headers": []}, nothing, nothing))
    assert reached == []
