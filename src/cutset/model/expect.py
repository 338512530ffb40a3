"""What a value must be, said once, beside its type: readers of configuration check it, and name it when it is not so.

parallel: Positive = 16
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from cutset.errors import InputError
from cutset.model.effect import Effect


@dataclass(frozen=True)
class Expect:
    """A problem reads `expected <meaning>, found <value>`."""

    meaning: str
    holds: Callable[[Any], object]

    def check(self, value: Any) -> Any:
        try:
            good = self.holds(value)
        except (ValueError, InputError):
            good = False
        if not good:
            raise ValueError(self.meaning)
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        """Pydantic's protocol, so that what declares a value needs not know who reads it."""
        from pydantic_core import core_schema  # noqa: PLC0415 -- the model itself needs the standard library only

        return core_schema.no_info_after_validator_function(self.check, handler(source))


def split_address(text: str) -> tuple[str, int]:
    """`host:port`, with an IPv6 host in brackets. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) <= 65535) or any(
        c in host for c in " /"
    ):
        raise ValueError(f"expected host:port, found `{text}`")
    return host, int(port)


def is_url(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and not parts.query


Port = Annotated[int, Expect("a port from 0 to 65535", lambda port: 0 <= port <= 65535)]
Positive = Annotated[int, Expect("a whole number from 1 on", lambda number: number >= 1)]
NotNegative = Annotated[int, Expect("a whole number from 0 on", lambda number: number >= 0)]
Seconds = Annotated[float, Expect("seconds above 0, at most 3600", lambda seconds: 0 < seconds <= 3600)]
Minutes = Annotated[float, Expect("minutes from 0 on", lambda minutes: 0 <= minutes < float("inf"))]
Pause = Annotated[float, Expect("seconds from 0 to 3600", lambda seconds: 0 <= seconds <= 3600)]
Ratio = Annotated[float, Expect("a share from 0 to 1", lambda share: 0 <= share <= 1)]
Factor = Annotated[float, Expect("a factor from 1 on", lambda factor: 1 <= factor < float("inf"))]
Rate = Annotated[float, Expect("requests per second above 0, at most 10000", lambda rate: 0 < rate <= 10_000)]
Days = Annotated[float, Expect("days from 0 on", lambda days: 0 <= days < float("inf"))]
FlakeRate = Annotated[float, Expect("a share from 0 to 0.5", lambda share: 0 <= share <= 0.5)]
ErrorRate = Annotated[float, Expect("a share above 0 and below 1", lambda share: 0 < share < 1)]
Percent = Annotated[float, Expect("a percentage above 0, at most 100", lambda percent: 0 < percent <= 100)]
Status = Annotated[int, Expect("an HTTP status from 100 to 599", lambda status: 100 <= status <= 599)]
Address = Annotated[str, Expect("`host:port`", lambda text: split_address(text)[1] > 0)]
Url = Annotated[str, Expect("a URL such as `http://127.0.0.1:9080`", is_url)]
EffectText = Annotated[str, Expect("an effect such as `abort(503)`, `delay(250ms)` or `timeout`", Effect.parse)]
HttpMethod = Annotated[str, Expect("an HTTP method in capitals", re.compile("[A-Z]+").fullmatch)]
UrlPath = Annotated[str, Expect("a path that begins with `/` and has no spaces", re.compile(r"/\S*").fullmatch)]
HeaderName = Annotated[str, Expect("the name of a header", re.compile(r"[!#-'*+.^`|~\w-]+", re.ASCII).fullmatch)]
CookieName = Annotated[str, Expect("the name of a cookie", re.compile(r"[!#-'*+.^`|~\w-]+", re.ASCII).fullmatch)]
HeaderValue = Annotated[str, Expect("printable ASCII", lambda text: text.isascii() and (text + " ").isprintable())]
Name = Annotated[str, Expect("a name", lambda text: text.strip() and text.isprintable())]
