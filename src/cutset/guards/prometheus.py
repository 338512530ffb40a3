"""A query of Prometheus (`/api/v1/query`) whose value must stay within limits.

Any value beyond a limit ends injection at once, and so does an answer that will never have one: a query that is wrong,
or gives a range. No answer, none with a value, and NaN may be a matter of moments: they end it when they last.
"""

import json
import math
import os
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from cutset.guards.settings import PrometheusCondition

ANSWER_SECONDS = 5.0
ANSWER_BYTES = 1024 * 1024  # more than 5,000 series


class NoValueError(Exception):
    """There is nothing to compare, for now."""


class WrongQueryError(Exception):
    """There will never be."""


class PrometheusGuard:
    def __init__(
        self,
        condition: PrometheusCondition,
        client: aiohttp.ClientSession,
        patience: float,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._condition = condition
        self._client = client
        self._patience = patience
        self._clock = clock
        self._unknown_since: float | None = None

    async def look(self) -> str:
        """Why injection must end; empty if it need not."""
        shown = f"`{self._condition.query}` at {urlsplit(self._condition.url).netloc.rpartition('@')[2]}"
        try:
            beyond = beyond_limits(values_of(*await self._ask()), self._condition)
        except WrongQueryError as error:
            return f"{shown} {error}"
        except NoValueError as error:
            now = self._clock()
            self._unknown_since = now if self._unknown_since is None else self._unknown_since
            waited = now - self._unknown_since
            return f"{shown} {error}, for {waited:.0f} s" if waited >= self._patience else ""
        self._unknown_since = None
        return f"{shown} {beyond}" if beyond else ""

    async def _ask(self) -> tuple[int, bytes]:
        condition = self._condition
        token = os.environ.get(condition.token or "", "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        url = f"{condition.url.rstrip('/')}/api/v1/query"
        try:
            async with self._client.get(
                url,
                params={"query": condition.query},
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS),
            ) as response:
                return response.status, await response.content.read(ANSWER_BYTES)
        except (aiohttp.ClientError, OSError) as error:  # a timeout is one of the second
            raise NoValueError(f"cannot be asked: {str(error) or type(error).__name__}") from error


def values_of(status: int, body: bytes) -> list[float]:
    """At least one. Raises NoValueError or WrongQueryError."""
    try:
        document: dict[str, Any] = json.loads(body)
        if document["status"] != "success":
            raise _refusal(status, str(document.get("error", "")))
        kind, result = document["data"]["resultType"], document["data"]["result"]
        if kind == "scalar":
            samples = [result]
        elif kind == "vector":
            samples = [each["value"] for each in result]  # a histogram has none
        else:
            raise WrongQueryError(f"gives a {kind}, and a number or an instant vector is needed")
        values = [float(text) for _, text in samples]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise NoValueError(f"was answered {status} with what Prometheus does not say") from error
    if not values:
        raise NoValueError("gives no value (`or vector(0)` makes it 0)")
    return values


def _refusal(status: int, error: str) -> Exception:
    text = f"was answered {status}: {error or 'no reason was given'}"
    return WrongQueryError(text) if 400 <= status < 500 and status not in (408, 429) else NoValueError(text)


def beyond_limits(values: list[float], condition: PrometheusCondition) -> str:
    """Raises NoValueError where one of them is none, unless another one is reason enough."""
    for value in values:
        if condition.above is not None and value > condition.above:
            return f"is {value:g}, above {condition.above:g}"
        if condition.below is not None and value < condition.below:
            return f"is {value:g}, below {condition.below:g}"
    if any(map(math.isnan, values)):
        raise NoValueError("is not a number")
    return ""
