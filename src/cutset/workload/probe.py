"""One request to an address inside a mesh, on behalf of somebody outside: what its sidecar says of itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from yarl import URL

from cutset.errors import InputError
from cutset.model.expect import split_address

PROBE_PATH = "/cutset-probe"  # that no application serves
PROBE_SECONDS = 5.0
MAX_HEADERS = 32
MAX_HEADER_LENGTH = 4096  # characters of all plans of one request, and more
OURS = "x-cutset-"  # headers of answers that are told


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    address: str  # host:port
    grpc: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)  # `host` among them: by which a sidecar finds the service


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    status: int = 0  # 0: no answer
    headers: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


def probe_of(document: Any) -> ProbeRequest:
    """What somebody asks for; raises InputError if that is something else."""
    wanted = document if isinstance(document, dict) else {}
    address, grpc, headers = wanted.get("address"), wanted.get("grpc", False), wanted.get("headers", {})
    try:
        split_address(str(address))
    except ValueError as error:
        raise InputError(f"`address`: {error}") from None
    if not isinstance(grpc, bool):
        raise InputError("`grpc` is neither true nor false")
    if not isinstance(headers, dict) or len(headers) > MAX_HEADERS or not all(map(_is_header, headers.items())):
        raise InputError(f"`headers` are not at most {MAX_HEADERS} texts by their names")
    return ProbeRequest(str(address), grpc, headers)


async def send_to(probe: ProbeRequest) -> ProbeAnswer:
    """By HTTP/1.1 in any case: sidecars speak to each other as the service wants it."""
    url = URL(f"http://{probe.address}{PROBE_PATH}")
    timeout = aiohttp.ClientTimeout(total=PROBE_SECONDS)
    headers = dict(probe.headers) | ({"content-type": "application/grpc", "te": "trailers"} if probe.grpc else {})
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.request("POST" if probe.grpc else "GET", url, headers=headers, allow_redirects=False) as answer,
        ):
            told = {name.lower(): value for name, value in answer.headers.items() if name.lower().startswith(OURS)}
            return ProbeAnswer(answer.status, told)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        return ProbeAnswer(error=str(error) or type(error).__name__)


def _is_header(pair: tuple[object, object]) -> bool:
    return all(isinstance(text, str) and text.isprintable() and len(text) <= MAX_HEADER_LENGTH for text in pair)
