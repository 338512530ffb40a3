"""Takes parcels in, and asks another service for the town of the postcode (CAST §4.4, case 1).

The bug: the question has no time limit. Each answer that never comes takes one worker away for good.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

import requests

from cutset_demo.flaws.serving import FlawSettings, WsgiApplication

QUESTION_SECONDS = 0.3

session = requests.Session()
session.trust_env = False  # the other service is near: no proxy of the environment leads to it


def application(settings: FlawSettings) -> WsgiApplication:
    timeout = None if settings.broken else QUESTION_SECONDS

    def respond(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        match environ["REQUEST_METHOD"], environ["PATH_INFO"]:
            case "GET", "/health":
                status, body = "200 OK", {"status": "ok"}
            case "POST", "/parcels":
                parcel = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
                status, body = take_in(parcel, settings.dependency, timeout)
            case _:
                status, body = "404 Not Found", {"error": "no such page"}
        content = json.dumps(body).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
        return [content]

    return respond


def take_in(parcel: dict[str, str], dependency: str, timeout: float | None) -> tuple[str, dict[str, str]]:
    try:
        answer = session.get(f"{dependency}/postcodes/{parcel['postcode']}", timeout=timeout)
        answer.raise_for_status()
        found = answer.json()
    except requests.RequestException as error:
        return "503 Service Unavailable", {"error": f"no answer from the postcode service: {error}"}
    if not isinstance(found, dict) or "town" not in found:
        return "503 Service Unavailable", {"error": "the postcode service gave no town"}
    return "201 Created", {"parcel_id": parcel["parcel_id"], "town": found["town"]}
