"""What a fault does to a call, and which of them are tried where.

effect = kind ["," "attempts=" n] ["," "call=" n]
kind   = "abort(" http-status ["," body] ")" | "grpc(" grpc-status ")" | "delay(" n ("ms" | "s") ")"
       | "timeout" | "connection-refused" | "connection-reset" | "empty" | "truncated" | "garbled"
       | "library(" name ")"

abort(503)              every call is answered 503, on gRPC UNAVAILABLE
abort(503,busy%21)      with this body, percent-escaped
timeout                 no answer for as long as the caller waits
connection-refused      as if nobody listened there; connection-reset: as if the connection broke
empty                   the answer's status and headers, without its body; truncated: with the first half of it;
                        garbled: with bytes that cannot be read
library(cache-miss)     a fault of the agent's library, by its name
abort(503),attempts=1   the first attempt of each call only: a retry gets through
abort(503),call=2       the second call of the request only
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import quote, unquote

from cutset.errors import InputError
from cutset.model.point import Point


class EffectKind(StrEnum):
    ABORT = "abort"
    GRPC = "grpc"
    DELAY = "delay"
    TIMEOUT = "timeout"
    CONNECTION_REFUSED = "connection-refused"
    CONNECTION_RESET = "connection-reset"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    GARBLED = "garbled"
    LIBRARY = "library"


# What the number of those kinds may be that have one. Envoy's fault filter refuses statuses outside 200–599.
_LIMITS = {
    EffectKind.ABORT: (200, 599, "an HTTP status"),
    EffectKind.GRPC: (1, 16, "a gRPC status"),
    EffectKind.DELAY: (1, 3_600_000, "milliseconds"),
}
# Slow, but answered in the end, or not at all: what takes time adds up.
SLOW = frozenset({EffectKind.DELAY, EffectKind.TIMEOUT})
# The callee does its work, and its answer is spoilt on the way back.
SPOILS_ANSWER = frozenset({EffectKind.EMPTY, EffectKind.TRUNCATED, EffectKind.GARBLED})
# No answer of the callee, nor of a proxy in front of it: the caller's own side must do it.
BREAKS_CONNECTION = frozenset({EffectKind.CONNECTION_REFUSED, EffectKind.CONNECTION_RESET})

# What a data store answers by one value, which can be spoilt; rows, counts and acknowledgements cannot.
_ANSWERED_BY_A_VALUE = frozenset({"cache/redis/get", "mq/nats/request"})

_BODY_SAFE = "!$&'*+;=@/?-._~ "
_MOST_BODY = 60  # characters: it travels in each request
_NUMBERED = re.compile(r"(?P<kind>abort|grpc|delay)\((?P<value>[0-9]{1,7})(?P<unit>ms|s)?(?:,(?P<body>[^()]*))?\)")
_NAMED = re.compile(r"library\((?P<name>[a-z0-9][a-z0-9-]{0,59})\)")
_OPTION = re.compile(r"(?P<name>attempts|call)=(?P<number>[0-9]{1,3})")
_HINT = (
    "Write `abort(503)`, `grpc(14)`, `delay(250ms)`, `timeout`, `connection-refused`, `connection-reset`, `empty`, "
    "`truncated`, `garbled` or `library(cache-miss)`; `,attempts=1` for the first attempt only, `,call=2` for the "
    "second call only"
)


@dataclass(frozen=True, slots=True, order=True)
class Effect:
    kind: EffectKind
    value: int = 0  # status, or milliseconds
    name: str = ""  # of the library's fault
    body: str = ""  # of the answer that an abort gives
    attempts: int = 0  # only the first n attempts of a call; 0 means all
    call: int = 0  # only the n-th call of the request there; 0 means all

    def __post_init__(self) -> None:
        low, high, meaning = _LIMITS.get(self.kind, (0, 0, "no number"))
        if not low <= self.value <= high:
            raise InputError(f"`{self}`: expected {meaning} from {low} to {high}, found {self.value}")
        if bool(self.name) != (self.kind is EffectKind.LIBRARY) or (self.body and self.kind is not EffectKind.ABORT):
            raise InputError(f"`{self}` is not an effect", hint=_HINT)
        if len(self.body) > _MOST_BODY:
            raise InputError(f"`{self}`: expected a body of at most {_MOST_BODY} characters, found {len(self.body)}")
        if not 0 <= self.attempts <= 99:
            raise InputError(f"`{self}`: expected 0 to 99 attempts, found {self.attempts}")
        if not 0 <= self.call <= 99:
            raise InputError(f"`{self}`: expected a call from 1 to 99, found {self.call}")

    def __str__(self) -> str:
        attempts = f",attempts={self.attempts}" if self.attempts else ""
        return self.what + attempts + (f",call={self.call}" if self.call else "")

    @property
    def what(self) -> str:
        """Without the options that say which calls it is for."""
        if self.kind is EffectKind.LIBRARY:
            return f"{self.kind}({self.name})"
        if self.kind not in _LIMITS:
            return str(self.kind)
        unit = "ms" if self.kind is EffectKind.DELAY else ""
        body = f",{quote(self.body, safe=_BODY_SAFE)}" if self.body else ""
        return f"{self.kind}({self.value}{unit}{body})"

    @property
    def for_every_call(self) -> bool:
        return not self.attempts and not self.call

    @classmethod
    def parse(cls, text: str) -> "Effect":
        what, *options = _split(text.strip())
        effect = _parse_kind(what, text)
        for option in options:
            match = _OPTION.fullmatch(option.strip())
            if match is None:
                raise InputError(f"`{text}` is not an effect", hint=_HINT)
            number = int(match["number"])
            effect = replace(effect, attempts=number) if match["name"] == "attempts" else replace(effect, call=number)
        return effect


def _split(text: str) -> list[str]:
    """At the commas outside of parentheses."""
    return re.split(r",(?![^(]*\))", text)


def _parse_kind(what: str, text: str) -> Effect:
    if match := _NAMED.fullmatch(what):
        return Effect(EffectKind.LIBRARY, name=match["name"])
    if match := _NUMBERED.fullmatch(what):
        kind, value = EffectKind(match["kind"]), int(match["value"])
        if (match["unit"] is not None) == (kind is EffectKind.DELAY):
            value *= 1000 if match["unit"] == "s" else 1
            return Effect(kind, value, body=unquote(match["body"] or ""))
    elif what in {kind.value for kind in EffectKind} - {*map(str, _LIMITS), str(EffectKind.LIBRARY)}:
        return Effect(EffectKind(what))
    raise InputError(f"`{text}` is not an effect", hint=_HINT)


UNAVAILABLE = Effect(EffectKind.ABORT, 503)
REFUSED = Effect(EffectKind.CONNECTION_REFUSED)


@dataclass(frozen=True, slots=True)
class EffectChoice:
    """Which effects are tried at which point: those of the rule that names it most closely, else the usual ones."""

    usual: tuple[Effect, ...] = (UNAVAILABLE,)
    rules: tuple[tuple[str, tuple[Effect, ...]], ...] = ()  # by `service`, `caller>service`, `service/API`, …

    def at(self, point: Point) -> tuple[Effect, ...]:
        """Without repetition, and each as it is possible there."""
        return tuple(dict.fromkeys(possible for each in self._wanted(point) if (possible := _possible(each, point))))

    @property
    def all(self) -> tuple[Effect, ...]:
        lists = (self.usual, *(effects for _, effects in self.rules))
        return tuple(dict.fromkeys(each for effects in lists for each in effects))

    @property
    def single(self) -> Effect | None:
        """The only one, if there is only one."""
        return self.all[0] if len(self.all) == 1 else None

    def _wanted(self, point: Point) -> Sequence[Effect]:
        names = {str(replace(point, replica="", occurrence="")): 3, str(point.of_api): 2}
        names |= {f"{point.caller}>{point.service}": 1, point.service: 0}
        found = [(names[name], effects) for name, effects in self.rules if name in names]
        return max(found, key=lambda each: each[0])[1] if found else self.usual


def _possible(effect: Effect, point: Point) -> Effect | None:
    """A point with a caller is that caller's own side of a call, where its agent is; any other is the callee's, where
    a proxy is. The proxy answers, late or badly, and cannot break a connection. The agent can do all to what no proxy
    is in front of; where there is one, it does what that one cannot. A data store that answers a status is gone.
    """
    if not point.caller:
        beyond = effect.kind in BREAKS_CONNECTION or effect.kind is EffectKind.LIBRARY or effect.call
        return None if beyond else effect
    if point.is_store and effect.kind in (EffectKind.ABORT, EffectKind.GRPC):
        return replace(REFUSED, attempts=effect.attempts, call=effect.call)
    if point.is_store and effect.kind in SPOILS_ANSWER and point.endpoint not in _ANSWERED_BY_A_VALUE:
        return None
    if point.is_endpoint and effect.kind is EffectKind.GRPC and not point.api.startswith("grpc/"):
        return None
    if not point.is_endpoint and not (effect.kind in BREAKS_CONNECTION or effect.call):
        return None
    return effect
