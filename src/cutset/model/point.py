"""A point: the stable identity of one call that can be made to fail.

    point      = [caller ">"] service "/" api ["#" replica] ["@" occurrence]
    occurrence = 1, 2, 3, … or "last"

    productcatalog/GetProduct            every call of the API
    frontend>productcatalog/GetProduct   only those of one caller
    cart/GetCart#2                       only those that replica 2 serves
    cart/GET /carts/*@last               only the last one within a request
    cart>cache/redis/get                 an endpoint of the caller's agent: component `cache`, `db`, `mq` or `rpc`
    cart>cache/redis/get sessions:6379/0 only the calls of that endpoint that go to one peer

The characters that the grammar uses are percent-escaped inside names, so `Point.parse(str(point)) == point`.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from cutset.errors import InputError

_NAME_SAFE = "!$&'()*+,;=:|~^`{}[]<\\?\""  # all but % > / # @ and space, which would be stripped at the ends
_API_SAFE = _NAME_SAFE + "/ "

_GRAMMAR = re.compile(
    r"(?:(?P<caller>[^>/#@]+)>)?(?P<service>[^>/#@]+)/(?P<api>[^>#@]+)"
    r"(?:#(?P<replica>[^>/#@]+))?(?:@(?P<occurrence>[1-9][0-9]*|last))?"
)


COMPONENTS = frozenset({"cache", "db", "mq", "rpc"})  # as the agent's endpoints begin
_FRAMEWORK = re.compile(r"[a-z0-9_]+/")


@dataclass(frozen=True, slots=True, order=True)
class Point:
    service: str
    api: str
    caller: str = ""
    replica: str = ""
    occurrence: str = ""

    def __str__(self) -> str:
        caller = f"{_quote(self.caller)}>" if self.caller else ""
        replica = f"#{_quote(self.replica)}" if self.replica else ""
        occurrence = f"@{self.occurrence}" if self.occurrence else ""
        return f"{caller}{_quote(self.service)}/{quote(self.api, safe=_API_SAFE)}{replica}{occurrence}"

    @classmethod
    def parse(cls, text: str) -> "Point":
        match = _GRAMMAR.fullmatch(text)
        if match is None:
            raise InputError(
                f"`{text}` is not a point",
                hint="Write `service/API`, as in `cart/GetCart`, `frontend>cart/GetCart`, `cart/GetCart#2`",
            )
        return cls(**{name: unquote(value or "") for name, value in match.groupdict().items()})

    @property
    def is_endpoint(self) -> bool:
        """Of its caller's agent, which alone knows it: `cart>cache/redis/get`, `payment>rpc/httpx/POST /v1/charges`."""
        return bool(self.caller) and self.service in COMPONENTS and bool(_FRAMEWORK.match(self.api))

    @property
    def is_store(self) -> bool:
        """A data store, cache or broker."""
        return self.is_endpoint and self.service != "rpc"

    @property
    def endpoint(self) -> str:
        """As agents name it, without its peer: `cache/redis/get`."""
        return f"{self.service}/{self._method_and_peer[0]}"

    @property
    def peer(self) -> str:
        """Where the endpoint's calls go, such as `sessions:6379/0`; empty: all of them."""
        return self._method_and_peer[1]

    @property
    def _method_and_peer(self) -> tuple[str, str]:
        method, blank, peer = self.api.rpartition(" ")
        # A path is the method's own: `httpx/GET /quote`.
        return (method, peer) if self.is_endpoint and blank and not peer.startswith("/") else (self.api, "")

    @property
    def of_api(self) -> "Point":
        """The same call whoever makes it and whichever replica serves it. An endpoint is its caller's own."""
        return Point(self.service, self.api, self.caller if self.is_endpoint else "")


def _quote(name: str) -> str:
    return quote(name, safe=_NAME_SAFE)
