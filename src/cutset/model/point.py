"""A point: the stable identity of one call that can be made to fail.

    point      = [caller ">"] service "/" api ["#" replica] ["@" occurrence]
    occurrence = 1, 2, 3, … or "last"

    productcatalog/GetProduct            every call of the API
    frontend>productcatalog/GetProduct   only those of one caller
    cart/GetCart#2                       only those that replica 2 serves
    cart/GET /carts/*@last               only the last one within a request

The characters that the grammar uses are percent-escaped inside names, so `Point.parse(str(point)) == point`.
"""

import re
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from cutset.errors import InputError

_NAME_SAFE = "!$&'()*+,;=:|~^`{}[]<\\?\""  # all but % > / # @ and space, which would be stripped at the ends
_API_SAFE = _NAME_SAFE + "/ "

_GRAMMAR = re.compile(
    r"(?:(?P<caller>[^>/#@]+)>)?(?P<service>[^>/#@]+)/(?P<api>[^>#@]+)"
    r"(?:#(?P<replica>[^>/#@]+))?(?:@(?P<occurrence>[1-9][0-9]*|last))?"
)


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
    def of_api(self) -> "Point":
        """The same call whoever makes it and whichever replica serves it."""
        return replace(self, caller="", replica="", occurrence="")


def _quote(name: str) -> str:
    return quote(name, safe=_NAME_SAFE)
