"""The fault plan as it travels in a request: MicroFI §4.3's token, made to carry the whole plan and a signature.

`WIRE.md` beside this file is the specification, `wire_vectors.json` its golden vectors. Standard library only: the
driver, the agents and the tests share this file; `cutset/inject/filter.lua` is its twin inside Envoy. Its dataclasses
have no slots, which Python 3.9 could not give them: services under test may run on it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

# Two parts of 248 characters and their keys fill tracestate exactly; W3C allows 256 per value.
MAX_VALUE_CHARACTERS = 248
MAX_TRACESTATE_CHARACTERS = 512  # what every vendor must propagate (W3C §3.3.1.5); the JavaScript SDK drops more
MAX_BAGGAGE_BYTES = 8192  # W3C baggage §3.3.2
MAX_DATADOG_CHARACTERS = 448  # of x-datadog-tags: tracers add their own, and drop the whole header beyond 512
MAX_LIFE_SECONDS = 120  # readers refuse more, so that who once could sign cannot keep plans for later
MIN_KEY_BYTES = 32  # as many as HMAC-SHA256 has of security
ID_CHARACTERS = 4
TRACE_DIGITS = 16  # of a trace id, the last: all that B3 with 64 bits and Datadog hand on

_EXPIRY_DIGITS = 7
_HEAD_CHARACTERS = len("2h.") + _EXPIRY_DIGITS + 1
_PROOF_CHARACTERS = {"h": 16, "e": 86}
_VALUE = re.compile(
    r"(?P<body>2(?P<scheme>[he])\.(?P<expiry>[\w-]{7})(?P<salt>[\w-])"
    r"(?P<groups>(?:~[ABDGL][0-9]{1,7}(?:p[0-9]{1,2})?(?:n[0-9]{1,2})?(?:o[0-9]{1,2})?(?:t[\w-]{2,80})?"
    r"\.(?:[\w-]{4})+)*))"
    r"\.(?P<proof>[\w-]{16}|[\w-]{86})",
    re.ASCII,
)
_WRITTEN = re.compile(
    rb"2[he]\.[\w-]{8}(?:(?:~|%7[Ee])[ABDGL][0-9][\w-]*\.[\w-]+)*\.[\w-]{16,}",  # in bytes, \w is ASCII
)
REMOVED = b"plan-removed"
_GROUP = re.compile(r"~([ABDGL])([0-9]+)(?:p([0-9]+))?(?:n([0-9]+))?(?:o([0-9]+))?(?:t([\w-]+))?\.([\w-]+)", re.ASCII)
_IDENTIFIER = re.compile(r"[0-9]+|[0-9A-Fa-f-]{8,}|(?=.*[0-9])[0-9A-Za-z]{6,}")
MAX_TEXT_BYTES = 60  # of an answer: the shorter of two schemes leaves room for 150 digits in a part
_LIMITS = {"A": (200, 599), "B": (1, 3), "G": (1, 16), "D": (1, 3_600_000), "L": (0, 9_999_999)}
SPOILT = ("empty", "truncated", "garbled")  # answers, by the number of kind B, from 1 on


class WireError(ValueError):
    """A plan cannot be written."""


class PlanTooLargeError(WireError):
    """A plan does not fit its carrier."""


class PlanRejectedError(WireError):
    """A received value is not a valid plan; the text is the reason."""


class WrongSignatureError(PlanRejectedError):
    """It took work to tell."""


@dataclass(frozen=True, order=True)
class WireTarget:
    """Where a fault happens. An empty API means every API of the service, an empty replica every replica.

    For an agent the API is an endpoint of the service's own calls, such as `cache/redis/get`.
    """

    service: str
    api: str = ""
    replica: str = ""

    def __post_init__(self) -> None:
        if not self.service or "|" in self.service or "|" in self.replica:
            raise WireError(f"expected names without `|` and a service, found {self!r}")

    def __str__(self) -> str:
        if self.replica:
            return f"{self.service}|{self.api}|{self.replica}"
        return f"{self.service}|{self.api}" if self.api else self.service


@dataclass(frozen=True, order=True)
class WireFault:
    # "A" answer with an HTTP status, "G" with a gRPC status, "B" spoil the answer: `SPOILT`, "D" delay by milliseconds,
    # "L" `fault_code`
    kind: str
    value: int
    percent: int = 100
    attempts: int = 0  # only the first n attempts of a call; 0 means all
    occurrence: int = 0  # only the n-th call of the request there, which agents alone can tell; 0 means all
    text: str = ""  # the body of an answer of kind A

    def __post_init__(self) -> None:
        low, high = _LIMITS.get(self.kind, (1, 0))
        counts = 0 <= self.attempts <= 99 and 0 <= self.occurrence <= 99
        if not (low <= self.value <= high and 1 <= self.percent <= 100 and counts):
            raise WireError(f"expected a fault of kind A, B, D, G or L within its limits, found {self!r}")
        if len(self.text.encode()) > (MAX_TEXT_BYTES if self.kind == "A" else 0):
            raise WireError(f"expected a text of at most {MAX_TEXT_BYTES} bytes, of kind A alone, found {self!r}")

    def __str__(self) -> str:
        percent = f"p{self.percent}" if self.percent != 100 else ""
        attempts = f"n{self.attempts}" if self.attempts else ""
        occurrence = f"o{self.occurrence}" if self.occurrence else ""
        text = f"t{_to_base64(self.text.encode())}" if self.text else ""
        return f"{self.kind}{self.value}{percent}{attempts}{occurrence}{text}"


@dataclass(frozen=True)
class WireSigner:
    """Another way to sign than with a shared key: the driver has one for scheme `e`."""

    scheme: str
    sign: Callable[[bytes], bytes]


@dataclass(frozen=True)
class WireVerifier:
    """Another way to verify than with a shared key: `ecdsa.public_verifier` makes one for scheme `e`."""

    scheme: str
    verify: Callable[[bytes, bytes], bool]  # what was signed, and the proof


@dataclass(frozen=True)
class WirePart:
    """One decoded value. Only ids travel, so it can be asked about a target but cannot list its targets."""

    expires: float  # Unix seconds
    salt: str
    faults: tuple[tuple[str, WireFault], ...]  # (id, fault)

    def faults_at(self, target: WireTarget) -> tuple[WireFault, ...]:
        wanted = target_id(self.salt, str(target))
        return tuple(fault for identity, fault in self.faults if identity == wanted)


def normalise_api(method: str, path: str, grpc: bool) -> str:  # noqa: FBT001 -- mirrors filter.lua's positional arguments
    """`GET /cart/*` for HTTP, the bare method name for gRPC. Segments that look like identifiers become `*`."""
    path = path.partition("?")[0]
    if grpc:
        return path.rpartition("/")[2]
    segments = ("*" if _IDENTIFIER.fullmatch(segment) else segment for segment in path.split("/"))
    return f"{method} {'/'.join(segments)}"


def encode(
    faults: Iterable[tuple[WireTarget, WireFault]],
    *,
    key: bytes | WireSigner,
    environment: str,
    trace_id: str,
    expires: float,
    now: float,
    catalogue: Collection[WireTarget] = (),
) -> tuple[str, ...]:
    """The signed parts of a plan: one for up to 50 targets with the same fault, always at least one.

    It counts within the trace alone, until `expires`; this and `now` are Unix seconds.
    `catalogue` are all the targets that sidecars may look up; none of them will be mistaken for a planned one.
    """
    signer = key if isinstance(key, WireSigner) else _shared(key)
    if not (expires - now <= MAX_LIFE_SECONDS and 0 <= expires * 1000 < 64**_EXPIRY_DIGITS):
        raise WireError(f"expected an expiry in Unix seconds, {MAX_LIFE_SECONDS}s away at most, found {expires}")
    planned = sorted(set(faults), key=lambda item: (item[1], item[0]))
    _refuse_contradictions(planned)
    salt = _salt_without_collisions({str(target) for target, _ in planned}, {str(target) for target in catalogue})
    head = f"2{signer.scheme}.{_to_digits(round(expires * 1000), _EXPIRY_DIGITS)}{salt}"
    room = MAX_VALUE_CHARACTERS - _HEAD_CHARACTERS - len(".") - _PROOF_CHARACTERS[signer.scheme]
    bodies = (head + groups for groups in _packed(planned, salt, room))
    return tuple(f"{body}.{_proof(signer, environment, trace_id, body)}" for body in bodies)


def decode(value: str, key: bytes | WireVerifier, environment: str, trace_id: str, now: float) -> WirePart:
    """The part that a value is within the trace; of the trace id the last 16 digits count."""
    verifier = key if isinstance(key, WireVerifier) else _shared_verifier(key)
    match = _VALUE.fullmatch(value)
    if match is None or len(match["proof"]) != _PROOF_CHARACTERS[match["scheme"]]:
        raise PlanRejectedError("malformed")
    if match["scheme"] != verifier.scheme:
        raise PlanRejectedError("signed in another way")
    expires = _from_digits(match["expiry"]) / 1000
    if now > expires:
        raise PlanRejectedError("expired")
    if expires > now + MAX_LIFE_SECONDS:
        raise PlanRejectedError("lives too long")
    if isinstance(key, bytes) and len(key) < MIN_KEY_BYTES:
        raise PlanRejectedError("no key")
    if not trace_id[-TRACE_DIGITS:].strip("0"):
        raise PlanRejectedError("no trace")
    proof = _from_base64(match["proof"])
    if not proof or not verifier.verify(_signed(environment, trace_id, match["body"]), proof):
        raise WrongSignatureError("wrong signature")
    faults = []
    for kind, number, percent, attempts, occurrence, text, ids in _GROUP.findall(match["groups"]):
        counts = int(percent or 100), int(attempts or 0), int(occurrence or 0)
        fault = WireFault(kind, int(number), *counts, _from_base64(text).decode(errors="replace"))
        faults += [(ids[at : at + ID_CHARACTERS], fault) for at in range(0, len(ids), ID_CHARACTERS)]
    return WirePart(expires, match["salt"], tuple(faults))


def to_tracestate(parts: Sequence[str]) -> str:
    """As many parts as every vendor must propagate: two. The others need baggage."""
    text = f"cutset={parts[0]}"
    for number, part in enumerate(parts[1:], start=2):
        longer = f"{text},cutset{number}={part}"
        if len(longer) > MAX_TRACESTATE_CHARACTERS:
            break
        text = longer
    return text


def to_datadog(parts: Sequence[str], before: str = "") -> str:
    """The tags that Datadog's tracers hand on, behind those of the trace itself: as many parts as all of them keep."""
    text = before
    for name, part in _named(parts):
        longer = f"{text}{',' if text else ''}_dd.p.{name}={part}"
        if len(longer) > MAX_DATADOG_CHARACTERS:
            break
        text = longer
    return text


def to_baggage(parts: Sequence[str]) -> str:
    text = ",".join(f"{name}={part}" for name, part in _named(parts))
    if len(text) > MAX_BAGGAGE_BYTES:
        raise PlanTooLargeError(f"{len(parts)} parts take {len(text)} bytes; baggage holds {MAX_BAGGAGE_BYTES}")
    return text


def to_jaeger(parts: Sequence[str]) -> dict[str, str]:
    """Jaeger's own baggage: a header for each part."""
    to_baggage(parts)  # the same limit: servers bound all headers together
    return {f"uberctx-{name}": part for name, part in _named(parts)}


@lru_cache(maxsize=1 << 16)
def target_id(salt: str, target: str) -> str:
    return _to_digits(_hash(f"{salt}|{target}"), ID_CHARACTERS)


def without_plans(text: bytes) -> bytes:
    """For what is kept: whoever reads it learns of no plan."""
    return _WRITTEN.sub(REMOVED, text) if b"cutset" in text else text


def fault_code(name: str) -> int:
    """What kind `L` carries of a fault of the library, such as `connection-refused`: seven digits at most."""
    return _hash(name) % 10_000_000


def _named(parts: Sequence[str]) -> list[tuple[str, str]]:
    return [(f"cutset{number if number > 1 else ''}", part) for number, part in enumerate(parts, start=1)]


def _refuse_contradictions(planned: Sequence[tuple[WireTarget, WireFault]]) -> None:
    seen: dict[tuple[WireTarget, bool, int], WireFault] = {}
    for target, fault in planned:
        other = seen.setdefault((target, fault.kind == "D", fault.occurrence), fault)
        if other != fault:
            family = "delay" if fault.kind == "D" else "answer"
            raise WireError(f"`{target}` can have one {family} only, found {other} and {fault}")


def _salt_without_collisions(planned: set[str], catalogue: set[str]) -> str:
    everything = planned | catalogue
    for salt in ALPHABET:
        wanted = {target_id(salt, target) for target in planned}
        hits = sum(target_id(salt, target) in wanted for target in everything)
        if len(wanted) == len(planned) == hits:
            return salt
    raise WireError(
        f"each of the {len(ALPHABET)} salts makes one of {len(planned)} planned targets collide "
        f"with another of {len(everything)}"
    )


def _packed(planned: Sequence[tuple[WireTarget, WireFault]], salt: str, room: int) -> list[str]:
    """Targets with the same fault share its text; a part is filled before the next begins."""
    packed, current = [""], None
    for target, fault in planned:
        identity = target_id(salt, str(target))
        addition = identity if fault == current else f"~{fault}.{identity}"
        if len(packed[-1]) + len(addition) > room:
            packed.append("")
            addition = f"~{fault}.{identity}"
        packed[-1] += addition
        current = fault
    return packed


def _shared(key: bytes) -> WireSigner:
    if len(key) < MIN_KEY_BYTES:
        raise WireError(f"the signing key has {len(key)} bytes and needs {MIN_KEY_BYTES} or more")
    return WireSigner("h", lambda text: hmac.digest(key, text, hashlib.sha256)[:12])


def _shared_verifier(key: bytes) -> WireVerifier:
    return WireVerifier(
        "h", lambda text, proof: hmac.compare_digest(hmac.digest(key, text, hashlib.sha256)[:12], proof)
    )


def _signed(environment: str, trace_id: str, body: str) -> bytes:
    trace = trace_id[-TRACE_DIGITS:].lower().rjust(TRACE_DIGITS, "0")
    return f"cutset2|{environment}|{trace}|{body}".encode()


def _proof(signer: WireSigner, environment: str, trace_id: str, body: str) -> str:
    return _to_base64(signer.sign(_signed(environment, trace_id, body)))


def _to_base64(proof: bytes) -> str:
    return base64.urlsafe_b64encode(proof).decode().rstrip("=")


def _from_base64(text: str) -> bytes:
    """Empty if bits that are left over are not 0: then it is not written in the only way."""
    if len(text) % 4 == 1:
        return b""
    proof = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return proof if _to_base64(proof) == text else b""


def _hash(text: str) -> int:
    """FNV-1a, folded to 24 bits: a multiplication per character is what LuaJIT does for next to nothing."""
    state = 2166136261
    for byte in text.encode():
        state = (state ^ byte) * 16777619 & 0xFFFFFFFF
    return state >> 24 ^ state & 0xFFFFFF


def _to_digits(number: int, width: int) -> str:
    return "".join(ALPHABET[number >> 6 * (width - 1 - place) & 63] for place in range(width))


def _from_digits(digits: str) -> int:
    number = 0
    for digit in digits:
        number = number * 64 + ALPHABET.index(digit)
    return number
