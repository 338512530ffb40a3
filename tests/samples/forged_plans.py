"""Requests with plans that no sidecar and no gateway may obey, by somebody who has seen real ones and knows it all.

Each is what a key of the environment did not sign for this very request, or signed and must not be obeyed all the same.
"""

import random
import string
import time
from collections.abc import Callable, Iterator, Sequence

from cutset.inject.ecdsa import new_private_key
from cutset.inject.plan import plan_headers
from cutset.inject.signing import public_key_of, signer_of
from cutset.model.fault import Fault
from cutset_agent import wire

Headers = dict[str, str]
CARRIERS = ("tracestate", "baggage", "jaeger", "datadog")
_DIGITS = string.ascii_letters + string.digits + "-_"
_SPAN = "00f067aa0ba902b7"


class Forger:
    """`key` is the real one, in PEM: of what it signs, only what must be refused all the same is used as it is."""

    def __init__(self, key: bytes, environment: str, faults: Sequence[str], random_source: random.Random) -> None:
        self.key, self.environment = key, environment
        self.random = random_source
        self.cut = frozenset(map(Fault.parse, faults))
        self.other_key = new_private_key()

    def trace(self) -> str:
        return f"{self.random.getrandbits(128) | 1:032x}"

    def plan(self, **options: object) -> Headers:
        given = {"trace_id": self.trace(), "span_id": _SPAN, "key": self.key, "environment": self.environment}
        given |= {"expires": time.time() + 60, "carriers": [self.random.choice(CARRIERS)]}
        return plan_headers(self.cut, **(given | options))

    def changed(self, change: Callable[[str], str]) -> Headers:
        """A plan whose value was changed in all its carriers."""
        headers = self.plan()
        value = value_in(headers)
        return {name: text.replace(value, change(value)) for name, text in headers.items()}

    def signed(self, body: str, *, trace_id: str, key: bytes | wire.WireSigner) -> Headers:
        """Any body, signed properly by whoever has this key."""
        signer = signer_of(key) if isinstance(key, bytes) else key
        signer = signer if isinstance(signer, wire.WireSigner) else wire._shared(signer)
        value = f"{body}.{wire._proof(signer, self.environment, trace_id, body)}"
        return {
            "traceparent": f"00-{trace_id}-{_SPAN}-01",
            "tracestate": f"cutset={value}",
            "baggage": f"cutset={value}",
        }


def value_in(headers: Headers) -> str:
    name, text = next((name, text) for name, text in headers.items() if "cutset" in name + text)
    return text if name.startswith("uberctx") else text.rpartition("cutset=")[2]


def forged(
    key: bytes, environment: str, faults: Sequence[str], random_source: random.Random
) -> Iterator[tuple[str, Headers]]:
    """Without end, one of each way after the other: its name, and the headers. None may fire any of `faults`."""
    forger = Forger(key, environment, faults, random_source)
    while True:
        for name, way in WAYS.items():
            yield name, way(forger)


def _flipped(forger: Forger) -> Headers:
    def flip(value: str) -> str:
        at = forger.random.randrange(len(value))
        others = [each for each in _DIGITS if each != value[at]]
        return value[:at] + forger.random.choice(others) + value[at + 1 :]

    return forger.changed(flip)


def _swapped(forger: Forger) -> Headers:
    """The proof of one plan behind the body of another."""
    other = value_in(forger.plan()).rpartition(".")[2]
    return forger.changed(lambda value: f"{value.rpartition('.')[0]}.{other}")


def _of_another_trace(forger: Forger) -> Headers:
    headers = {name: text for name, text in forger.plan().items() if "cutset" in name + text}
    named = forger.random.choice(
        [
            {},
            {"traceparent": f"00-{forger.trace()}-{_SPAN}-01"},
            {"b3": f"{forger.trace()}-{_SPAN}-1"},
            {"uber-trace-id": f"{forger.trace()}:{_SPAN}:0:1"},
            {"x-datadog-trace-id": str(forger.random.getrandbits(63))},
        ]
    )
    return headers | named


def _body(forger: Forger, seconds: float, scheme: str = "e") -> str:
    expiry = wire._to_digits(round((time.time() + seconds) * 1000), 7)
    service = min(forger.cut).point.service
    return f"2{scheme}.{expiry}A~A503.{wire.target_id('A', service)}"


def _long_lived(forger: Forger) -> Headers:
    seconds = forger.random.choice([125, 3600, 86400 * 365, 1e9])
    return forger.signed(_body(forger, seconds), trace_id=forger.trace(), key=forger.key)


def _expired(forger: Forger) -> Headers:
    seconds = -forger.random.choice([0.05, 1, 3600, 1e9])
    return forger.signed(_body(forger, seconds), trace_id=forger.trace(), key=forger.key)


def _with_the_public_key_as_secret(forger: Forger) -> Headers:
    return forger.signed(_body(forger, 60, "h"), trace_id=forger.trace(), key=public_key_of(forger.key))


def _other_scheme(forger: Forger) -> Headers:
    return forger.changed(lambda value: "2h" + value[2:])


def _prolonged(forger: Forger) -> Headers:
    later = wire._to_digits(round((time.time() + 90) * 1000), 7)
    return forger.changed(lambda value: value[:3] + later + value[10:])


def _more_targets(forger: Forger) -> Headers:
    more = "".join(forger.random.choices(_DIGITS, k=4))
    return forger.changed(lambda value: f"{value.rpartition('.')[0]}{more}.{value.rpartition('.')[2]}")


def _truncated(forger: Forger) -> Headers:
    return forger.changed(lambda value: value[: -forger.random.randrange(1, len(value) - 4)])


def _numbers(forger: Forger) -> Headers:
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    numbers = [forger.random.choice([0, 1, order - 1, order, order + 1, 2**256 - 1]) for _ in range(2)]
    proof = wire._to_base64(b"".join(number.to_bytes(32, "big") for number in numbers))
    return forger.changed(lambda value: f"{value.rpartition('.')[0]}.{proof}")


def _noise(forger: Forger) -> Headers:
    noise = "".join(forger.random.choices(_DIGITS + ".~%=; ", k=forger.random.randrange(1, 250))).strip()
    return forger.changed(lambda value: value[: forger.random.randrange(len(value))] + noise + "!")


def _doubled(forger: Forger) -> Headers:
    """The same forged part again and again, in all carriers at once."""
    headers = forger.plan(carriers=CARRIERS, key=forger.other_key)
    return headers | {name: f"{headers[name]},{headers[name]}" for name in ("tracestate", "baggage")}


def _flooded(forger: Forger) -> Headers:
    """A real plan behind so many forged ones that nobody may look any further."""
    trace_id = forger.trace()
    real = forger.plan(trace_id=trace_id, carriers=["baggage"])
    value = value_in(real)
    body, _, proof = value.rpartition(".")
    parts = [f"{body}.{''.join(forger.random.sample(proof[:-1], len(proof) - 1))}{proof[-1]}" for _ in range(8)]
    if forger.random.random() < 0.5:
        parts = [f"2e.{'A' * 8}.{'A' * 16}" for _ in range(80)]  # malformed ones cost nothing, but are counted
    return real | {"baggage": ",".join(f"cutset={part}" for part in (*parts, value))}


def _asked_directly(forger: Forger) -> Headers:
    asked = forger.random.choice(["abort-request", "abort-grpc-request", "delay-request"])
    headers = {"x-cutset-gate": "1", f"x-envoy-fault-{asked}": "503", "x-envoy-fault-abort-request-percentage": "100"}
    carrier = forger.random.choice([{}, {"baggage": "cutset=x"}, forger.plan(key=forger.other_key)])
    return carrier | headers


def _moved(forger: Forger) -> Headers:
    """In the header by which a gateway hands on what it accepted."""
    headers = forger.plan(carriers=["tracestate"], key=forger.other_key)
    return headers | {"x-cutset-tracestate": headers["tracestate"], "tracestate": forger.random.choice([",", "a=1"])}


WAYS: dict[str, Callable[[Forger], Headers]] = {
    "a character changed": _flipped,
    "the proof of another plan": _swapped,
    "of another trace": _of_another_trace,
    "lives too long": _long_lived,
    "expired": _expired,
    "another private key": lambda forger: forger.plan(key=forger.other_key),
    "a shared key": lambda forger: forger.plan(key=b"a key that somebody made up for this"),
    "the public key as a shared one": _with_the_public_key_as_secret,
    "another environment": lambda forger: forger.plan(environment=f"{forger.environment}2"),
    "another scheme": _other_scheme,
    "prolonged": _prolonged,
    "more targets": _more_targets,
    "truncated": _truncated,
    "numbers at the limits": _numbers,
    "noise": _noise,
    "doubled": _doubled,
    "behind a flood": _flooded,
    "asked directly": _asked_directly,
    "in the gateway's own header": _moved,
}
