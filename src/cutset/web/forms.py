"""What a form of the dashboard sent: small, and as text."""

from urllib.parse import parse_qsl

from starlette.requests import Request

from cutset.receive.body import read_body

MOST_BYTES = 262_144  # of a form: costs of a few thousand calls


async def form_of(request: Request) -> list[tuple[str, str]]:
    """Names and values, in their order."""
    body = await read_body(request, limit=MOST_BYTES)
    return parse_qsl(body.decode("utf-8", errors="replace"), keep_blank_values=True)
