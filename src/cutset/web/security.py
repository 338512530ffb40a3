"""Who may see the dashboard and who may act: a token, and checks of where a request comes from.

The pages show what the store holds, which its owner alone may read, and can start experiments: so both need the token
that `cutset ui` prints, once as a link and from then on as a cookie. Read-only, for sharing, nobody needs a token and
nobody can act. A page of somebody else in the same browser cannot use the cookie: it has another origin, and by another
name (DNS rebinding) it finds nobody here.
"""

import hmac
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE_METHODS = ("GET", "HEAD")
TOKEN_PARAMETER = "token"  # noqa: S105 -- its name
# Scripts are our own files. Styles may stand in the page, because pictures carry theirs; frames show answers.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with `no-referrer`, browsers do not say either where a form was sent from
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Access:
    hosts: Collection[str]  # what the Host header may say, in lower case: `127.0.0.1:8080`
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    read_only: bool = False

    @property
    def cookie(self) -> str:
        """Browsers send a host's cookies to all its ports: each dashboard has its own."""
        return f"cutset-{min(self.hosts, default='').rpartition(':')[2]}"

    def is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())


class Guarded:
    """Middleware: refuses who may not, and tells browsers what pages may do."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] == "http":  # nobody opens a WebSocket here
            await (self._refusal(Request(scope)) or self._app)(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        """None: it may pass."""
        access, headers = self._access, request.headers
        if _only(headers, "host") not in access.hosts:
            return PlainTextResponse("The dashboard does not go by this name: see `cutset ui --name`", 421)
        acts = request.method not in SAFE_METHODS
        if access.read_only:
            return PlainTextResponse("This dashboard is read-only", 403) if acts else None
        if acts and not _is_own_origin(headers):
            return PlainTextResponse("This came from another page than the dashboard's", 403)
        if not acts and access.is_token(request.query_params.get(TOKEN_PARAMETER, "")):
            return self._admitted(request)
        if not access.is_token(request.cookies.get(access.cookie, "")):
            return PlainTextResponse("Open the dashboard by the link that `cutset ui` printed: it has a token", 401)
        return None

    def _admitted(self, request: Request) -> Response:
        """From now on by cookie, so that the token is in no history and no link that is passed on."""
        query = [(name, value) for name, value in request.query_params.multi_items() if name != TOKEN_PARAMETER]
        path = f"/{quote(request.scope['path'].lstrip('/'))}"  # `//elsewhere` would be another host
        response = RedirectResponse(f"{path}{'?' if query else ''}{urlencode(query)}", 303)
        # Lax: whoever follows a link to a page from a chat sees it; requests that act are never sent from there.
        response.set_cookie(self._access.cookie, self._access.token, httponly=True, samesite="lax", path="/")
        return response


def _is_own_origin(headers: Headers) -> bool:
    host = _only(headers, "host")
    return _only(headers, "origin") in (f"http://{host}", f"https://{host}")


def _only(headers: Headers, name: str) -> str:
    """Nothing, if it is said twice: who forwards it might read the other one."""
    said = headers.getlist(name)
    return said[0].lower() if len(said) == 1 else ""
