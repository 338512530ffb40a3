"""The bodies of requests that others send us: bounded as received and as inflated."""

from starlette.requests import Request

from cutset.errors import InputError
from cutset.receive.inflate import inflate


class BodyError(InputError):
    """Why a body is refused, with the status to answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def read_body(request: Request, *, limit: int) -> bytes:
    """The body, inflated. What is refused is read to its end, too: else the sender may miss our answer."""
    received = await _received(request, limit)
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip"}:
        raise BodyError(415, f"Unsupported content encoding `{encoding}`: send it plain, or with gzip")
    try:
        body = inflate(received, limit=limit) if received is not None and encoding == "gzip" else received
    except InputError as error:
        raise BodyError(400, error.message) from None
    if body is None:
        raise BodyError(413, f"The body exceeds {limit} bytes: send smaller batches")
    return body


async def _received(request: Request, limit: int) -> bytes | None:
    """None if it is too large."""
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= limit:
            chunks.append(chunk)
        else:
            chunks.clear()
    return b"".join(chunks) if size <= limit else None
