"""A URL that must be answered, with a status and in time."""

import time
from urllib.parse import urlsplit

import aiohttp

from cutset.guards.settings import UrlCondition


async def bad_answer(condition: UrlCondition, client: aiohttp.ClientSession) -> str:
    start = time.monotonic()
    # The body is no concern, and may be endless.
    limit = aiohttp.ClientTimeout(total=condition.within)
    parts = urlsplit(condition.url)
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"  # queries hold tokens
    try:
        async with client.get(condition.url, timeout=limit, allow_redirects=False) as response:
            status = response.status
    except TimeoutError:
        return f"{shown} did not answer within {condition.within:g} s"
    except (aiohttp.ClientError, OSError) as error:
        return f"{shown} does not answer after {time.monotonic() - start:.1f} s: {str(error) or type(error).__name__}"
    return "" if status == condition.status else f"{shown} answered {status}, and {condition.status} is expected"
