"""A small shop with sessions, and what a browser would have saved of a visit to it."""

import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiohttp import web


class HarShop:
    """Orders belong to sessions; whoever asks for another's, or without the plan's own header, is told so."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, str]] = []  # method, path, tracestate
        self.orders: dict[str, str] = {}  # session by order
        self.broken = False

    async def handle(self, request: web.BaseRequest) -> web.Response:
        self.seen.append((request.method, request.path, request.headers.get("tracestate", "")))
        session = request.cookies.get("sid", "")
        if request.path == "/login":
            answer = web.json_response({"hello": (await request.json())["user"]})
            answer.set_cookie("sid", secrets.token_hex(16))
            return answer
        if request.path == "/orders" and request.method == "POST":
            if self.broken:
                return web.Response(status=503)
            order = secrets.token_hex(12)
            self.orders[order] = session
            return web.json_response({"order": {"id": order}})
        if request.path.startswith("/orders/"):
            known = self.orders.get(request.path.rpartition("/")[2])
            return web.json_response({"items": 1}) if known == session != "" else web.Response(status=404)
        if request.path == "/app.js":
            return web.Response(text="let a", content_type="text/javascript")
        return web.Response(text="<p>Welcome", content_type="text/html")


def write_har(path: Path, visits: Sequence[tuple[str, str, str, dict[str, Any]]], host: str = "shop.test") -> Path:
    """Of method, path, body, and what the answer had: `status`, `type`, `text`, `cookies` set, `sent` cookies."""
    entries = []
    for number, (method, target, body, answer) in enumerate(visits):
        sent = [{"name": "Cookie", "value": answer["sent"]}] if "sent" in answer else []
        set_cookies = [{"name": "Set-Cookie", "value": value} for value in answer.get("cookies", ())]
        request: dict[str, Any] = {
            "method": method,
            "url": f"http://{answer.get('host', host)}{target}",
            "headers": [*sent, {"name": "Content-Type", "value": "application/json"}],
        }
        if body:
            request["postData"] = {"mimeType": "application/json", "text": body}
        entries.append(
            {
                "startedDateTime": f"2026-01-01T10:00:{number:02}.000Z",
                "time": 10,
                "request": request,
                "response": {
                    "status": answer.get("status", 200),
                    "headers": [
                        {"name": "Content-Type", "value": answer.get("type", "application/json")},
                        *set_cookies,
                    ],
                    "content": {"text": answer.get("text", "")},
                },
            }
        )
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    return path


SESSION, ORDER = "5f2a9c1be07d44e8a1b2c3d4e5f60718", "9be07d44e8a1b2c3d4e5f607"
VISIT: Sequence[tuple[str, str, str, dict[str, Any]]] = (
    ("GET", "/", "", {"type": "text/html", "text": "<p>Welcome"}),
    ("GET", "/app.js", "", {"type": "text/javascript", "text": "let a"}),
    ("GET", "/pixel", "", {"host": "tracker.test"}),
    ("POST", "/login", '{"user": "ada"}', {"text": '{"hello": "ada"}', "cookies": [f"sid={SESSION}; Path=/"]}),
    ("GET", "/news", "", {"sent": f"sid={SESSION}", "type": "text/html", "text": "<p>News"}),
    ("POST", "/orders", "{}", {"sent": f"sid={SESSION}", "text": f'{{"order": {{"id": "{ORDER}"}}}}'}),
    ("GET", f"/orders/{ORDER}", "", {"sent": f"sid={SESSION}", "text": '{"items": 1}'}),
    ("GET", "/broken", "", {"status": 500}),
)
