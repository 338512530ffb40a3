"""Where a call goes: the third part of an agent's target, and the end of an endpoint's name in the driver.

A store is `host:port/database`, a broker's destination its subject, topic or queue, another server `host[:port]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from cutset_agent.wire import normalise_api

MAX_CHARACTERS = 200

_DEFAULT_PORTS = {"http": 80, "https": 443}
_NOT_ALLOWED = re.compile(r"[\s|\x00-\x1f\x7f]")  # blanks end a name, `|` a part of a target
_RESOLVER = re.compile(r"(?:dns|ipv4|ipv6|passthrough|xds):(?://[^/]*/)?", re.IGNORECASE)


def cleaned(peer: str) -> str:
    """As it may be in a target: one word, which is no path."""
    word = _NOT_ALLOWED.sub("_", peer)[:MAX_CHARACTERS]
    return f"unix:{word}" if word.startswith("/") else word


def store(host: object, port: object = "", database: object = "") -> str:
    """A path in place of the host is a socket of this machine."""
    name = _text(host[0] if isinstance(host, (list, tuple)) and host else host)  # of several the first
    if not name.startswith("/"):
        name = f"[{name}]".lower() if ":" in name and not name.startswith("[") else name.lower()
    return f"{name}{f':{_text(port)}' if port else ''}{f'/{_text(database)}' if database != '' else ''}"


def server(host: object, port: object = None, scheme: str = "") -> str:
    """A port that the scheme implies is left out."""
    implied = port is None or _DEFAULT_PORTS.get(scheme) == port
    return store(host, "" if implied else port)


def channel(target: object) -> str:
    """Of gRPC: `dns:///quotes:443` is `quotes:443`."""
    return _RESOLVER.sub("", _text(target), count=1).lower()


def destination(name: object) -> str:
    """A subject, topic or routing key: words that look like identifiers become `*`, as segments of paths do."""
    return normalise_api("", _text(name).replace(".", "/"), grpc=False).strip().replace("/", ".")


def database_of(url: str, given: Mapping[str, object], environ: Mapping[str, str]) -> str:
    """A PostgreSQL server and its database, by what a client is told, in the order in which libpq looks for it."""
    parts = urlsplit(url if "://" in url else "")
    words = {} if "://" in url else dict(re.findall(r"(\w+)\s*=\s*'?([^'\s]*)'?", url))
    told: dict[str, object] = {
        "host": unquote(parts.hostname or ""),
        "port": parts.port,
        "user": unquote(parts.username or ""),
    }
    told["dbname"] = given.get("database") or unquote(parts.path.lstrip("/"))

    def known(name: str, variable: str) -> object:
        return given.get(name) or words.get(name) or told[name] or environ.get(variable)

    database = known("dbname", "PGDATABASE") or known("user", "PGUSER") or ""
    return store(known("host", "PGHOST") or "localhost", known("port", "PGPORT") or 5432, database)


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
