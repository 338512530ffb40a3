"""Requests from outside that try to bring a valid plan in: the bytes around one plan, changed at random."""

import random
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import quote, urlsplit

Headers = list[tuple[bytes, bytes]]

_SPACES = ["", " ", "\t", "%20", "%09", "+", "%0A", "%0d", "%00", "%C2%A0", "%E2%80%8B", "%1f", "\x0b", "\x0c", "  "]
_OTHERS = ["user=42", "a=1;p=2", "x=%20", "k=v;cut=1", "a=b=c", "%zz=1", "empty=", "é=1", '"q"=1', "", "=", "%"]
_KEYS = ["cutset", "cutset2", "cutset17", "Cutset", "CUTSET", "_dd.p.cutset"]
_BETWEEN = ["=", " = ", "=\t", "%3D", "==", "=%20", "=+", " %3d", "="]
_BEHIND = ["", ";p", ";p=1", " ;x=y", ";", "%3Bp=1", " ", "%20", "\t", "=", '"']
_PREFIXES = [
    "uberctx-",
    "ot-baggage-",
    "uberctx_",
    "ot_baggage_",
    "baggage-",
    "Uberctx-",
    "UBERCTX-",
    "uberctx-uberctx-",
]
_LISTS = ["baggage", "Baggage", "BAGGAGE", "jaeger-baggage", "tracestate", "x-datadog-tags", "jaeger_baggage"]


def mutants(plan: str, random_source: random.Random) -> Iterator[Headers]:
    """Without end. Most of them are what no tracer writes, but some reader may understand."""
    while True:
        way = _by_name if random_source.random() < 0.25 else _in_a_list
        headers = way(plan, random_source)
        if random_source.random() < 0.15:
            headers += way(plan, random_source)
        if random_source.random() < 0.1:
            headers = [_with_a_flipped_byte(header, random_source) for header in headers]
        yield headers


def _in_a_list(plan: str, random_source: random.Random) -> Headers:
    pick = random_source.choice
    name = pick(_LISTS) if random_source.random() < 0.3 else "baggage"
    members = [pick(_OTHERS) for _ in range(random_source.randrange(3))]
    if random_source.random() < 0.03:
        members += [f"k{number}={'x' * 40}" for number in range(random_source.randrange(300))]
    members.insert(random_source.randrange(len(members) + 1), _member(plan, random_source))
    if random_source.random() < 0.15:
        members.append(_member(plan, random_source))
    if random_source.random() < 0.1:  # a list within a value: some reader may unescape it
        inner = quote(f",{_member(plan, random_source)}", safe=pick(["", "=", "%="]))
        members.append(f"user=1{inner}")
    separator = pick([",", ", ", " , ", ",\t", ",", ",,", ";"])
    if random_source.random() < 0.2:
        return [(name.encode(), member.encode()) for member in members]
    return [(name.encode(), separator.join(members).encode())]


def _by_name(plan: str, random_source: random.Random) -> Headers:
    name = random_source.choice(_PREFIXES) + _escaped(random_source.choice(_KEYS), random_source)
    name = "".join(character for character in name if character.isalnum() or character in "-_%.")
    value = _escaped(plan, random_source) if random_source.random() < 0.5 else plan
    if random_source.random() < 0.2:  # the plan in somebody else's value
        return [(b"uberctx-user", f"1%2Ccutset%3D{plan}".encode())]
    return [(name.encode(), value.encode())]


def _member(plan: str, random_source: random.Random) -> str:
    def seldom(choices: list[str]) -> str:
        return random_source.choice(choices) if random_source.random() < 0.3 else choices[0]

    key = f"{seldom(_SPACES)}{_escaped(seldom(_KEYS), random_source)}{seldom(_SPACES)}"
    value = _escaped(plan, random_source) if random_source.random() < 0.1 else plan
    return f"{key}{seldom(_BETWEEN)}{value}{seldom(_BEHIND)}"


def _escaped(text: str, random_source: random.Random) -> str:
    """None, some or all of its characters, once or several times."""
    share = random_source.choice([0, 0, 0.2, 1])
    for _ in range(random_source.choice([1, 1, 1, 1, 1, 2, 3, 6])):
        form = random_source.choice(["%{:02x}", "%{:02X}", "%{:02X}", "%{:02x}", "%u00{:02x}"])
        escapable = "%" if "%" in text else text
        text = "".join(
            form.format(ord(character)) if character in escapable and random_source.random() < share else character
            for character in text
        )
    return text


def _with_a_flipped_byte(header: tuple[bytes, bytes], random_source: random.Random) -> tuple[bytes, bytes]:
    name, value = header
    at = random_source.randrange(max(1, min(len(value), 24)))  # about the key, not the signature
    other = random_source.choice([bytes([random_source.randrange(256)]), b"", b"%", b"+", b"\t", b"%25", b" "])
    return name, value[:at] + other + value[at + 1 :]


class RawClient:
    """Sends exactly these bytes as headers, over one connection as long as the server keeps it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.address = (parts.hostname or "", parts.port or 80)
        self.connection: HTTPConnection | None = None

    def get(self, headers: Headers) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body; a server that hangs up has refused it, which counts as 400."""
        lines = [b"GET / HTTP/1.1", b"host: edge", *(b"%s: %s" % header for header in headers)]
        if self.connection is None:
            self.connection = HTTPConnection(*self.address, timeout=20)
            self.connection.connect()
        try:
            self.connection.sock.sendall(b"\r\n".join(lines) + b"\r\n\r\n")
            answer = HTTPResponse(self.connection.sock, method="GET")
            answer.begin()
            body = answer.read()
        except (OSError, HTTPException):
            self.close()
            return 400, {}, b""
        if answer.will_close:
            self.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None
