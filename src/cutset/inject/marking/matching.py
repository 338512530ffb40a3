"""Which of the requests that we are asked about may be marked: MicroFI §4.3.1 marks by URL, user and query."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qs

from cutset.model.impact import Matching, UserKey

USER_HEADER = "x-cutset-user"  # from the edge to us: what tells this user apart, and nothing else of a cookie


@dataclass(frozen=True, slots=True)
class AskedRequest:
    """What the edge tells of a request."""

    method: str
    path: str  # with the query
    headers: Mapping[str, str]  # by name in lower case


def user_of(asked: AskedRequest, key: UserKey) -> str:
    """What tells the user apart, as it was sent; empty if nothing does."""
    if key.cookie:
        return asked.headers.get(USER_HEADER, "") or _cookies(asked).get(key.cookie, "")
    return (asked.headers.get(USER_HEADER, "") or asked.headers.get(key.header.lower(), "")) if key.header else ""


def matches(matching: Matching, asked: AskedRequest, key: UserKey) -> bool:
    """The cookie that tells users apart comes by itself, and can be matched so."""
    if matching.method and matching.method != asked.method:
        return False
    path, _, query = asked.path.partition("?")
    if matching.path and not _path_pattern(matching.path).fullmatch(path):
        return False
    user = user_of(asked, key)
    if matching.headers and not _hold(matching.headers, asked.headers, {key.header.lower(): user}):
        return False
    if matching.cookies and not _hold(matching.cookies, _cookies(asked), {key.cookie: user}):
        return False
    return not matching.query or _hold_any(matching.query, parse_qs(query, keep_blank_values=True))


def _hold(wanted: Mapping[str, str], *found: Mapping[str, str]) -> bool:
    return _hold_any(wanted, {name: (value,) for each in found for name, value in each.items() if name and value})


def _hold_any(wanted: Mapping[str, str], found: Mapping[str, Sequence[str]]) -> bool:
    """An empty value stands for any."""
    return all(name in found and (not value or value in found[name]) for name, value in wanted.items())


def _cookies(asked: AskedRequest) -> dict[str, str]:
    pairs: Iterable[tuple[str, str, str]] = (
        each.strip().partition("=") for each in asked.headers.get("cookie", "").split(";")
    )
    return {name: value.strip('"') for name, equals, value in pairs if equals}


@lru_cache(maxsize=64)
def _path_pattern(path: str) -> re.Pattern[str]:
    below = path.endswith("/**")
    segments = path.removesuffix("**" if below else "").split("/")
    written = "/".join("[^/]+" if re.fullmatch(r"\*|\{[^/]*\}", each) else re.escape(each) for each in segments)
    return re.compile(written + (".*" if below else ""))
