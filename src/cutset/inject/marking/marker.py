"""Decides what one live request is given: nothing, the fault, or an empty plan (MicroFI §4.3.1, at the entry).

Differs from MicroFI in that a marked request without a fault, the control, goes beside each with one: which of both it
is decides one bit of a keyed digest of its user, which nobody can foresee who does not have the key. The lease is the
question: who is not asked marks nothing, and every mark is asked for anew.
"""

import hashlib
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cutset.inject.marking.matching import AskedRequest, matches, user_of
from cutset.inject.marking.trace_context import trace_of
from cutset.inject.plan import plan_headers
from cutset.model.call_site import AgentCallSite
from cutset.model.fault import Cut
from cutset.model.impact import Group, Mark, Matching, UserKey
from cutset.model.point import Point

# Lists that a plan may be put into, and how many characters of others' members leave room for any plan beside them:
# proxies and servers take 8 KiB of all headers, tracers of Datadog 512 characters of tags. With more, no mark.
_LISTS = {"baggage": ("baggage", 1000), "datadog": ("x-datadog-tags", 63)}
_TRACE_TAG = "_dd.p.tid="  # a plan in Datadog's tags has the upper half of the trace id, too
_NO_FAULT: Cut = frozenset()


@dataclass(frozen=True, slots=True)
class MarkingOrder:
    """What marked requests are given; replaced as a whole when a window begins."""

    cut: Cut
    environment: str
    carriers: tuple[str, ...]
    life: float  # seconds that a plan lives: longer than the longest request, or late calls escape the fault
    matching: Matching = field(default_factory=Matching)
    user: UserKey = field(default_factory=UserKey)
    with_fault: bool = True  # False: all that is marked is control
    catalogue: frozenset[Point] = frozenset()
    call_sites: Mapping[Point, Sequence[AgentCallSite]] = field(default_factory=dict, hash=False)


class Marker:
    """Pure, but for the clock and the randomness that it is given, and for what `on_mark` does.

    `may_mark` is asked for every mark, right before it is given. `on_mark` is told of each before the request goes on;
    if that fails, there is no mark.
    """

    def __init__(
        self,
        key: bytes,
        salt: str,
        *,
        may_mark: Callable[[], bool],
        on_mark: Callable[[Mark], None],
        clock: Callable[[], float] = time.time,
        random_hex: Callable[[int], str] = secrets.token_hex,
    ) -> None:
        self.may_mark = may_mark
        self.asked = 0
        self.problem = ""  # why the last request that could not be marked was not
        self._key = key
        self._secret = hashlib.blake2b(key, digest_size=32, salt=_short(salt), person=b"cutset marking").digest()
        self._on_mark = on_mark
        self._clock = clock
        self._random_hex = random_hex
        self._order: MarkingOrder | None = None

    @property
    def order(self) -> MarkingOrder | None:
        """None: nothing is marked."""
        return self._order

    @order.setter
    def order(self, order: MarkingOrder | None) -> None:
        """Raises PlanError for a cut that no request could be given."""
        if order is not None:
            self._plan(order, order.cut, "1" * 32, "1" * 16)
        self._order = order

    @property
    def is_marking(self) -> bool:
        return self._order is not None and self.may_mark()

    def decide(self, asked: AskedRequest) -> Mapping[str, str]:
        """The headers to set; none: leave it alone."""
        self.asked += 1
        order = self._order
        if order is None or not matches(order.matching, asked, order.user):
            return {}
        lists = [_LISTS[carrier] for carrier in order.carriers if carrier in _LISTS]
        others = {name: _others(asked.headers.get(name, "")) for name, _ in lists}
        if any(len(others[name]) > room for name, room in lists):
            return {}  # in either group alike, so that groups stay comparable
        trace_id, span_id = trace_of(asked.headers) or ("0" * 16 + self._random_hex(8), "")
        span_id = span_id or self._random_hex(8)
        # Who tells nobody apart has each trace for a user: requests of one trace cannot be told apart in spans either.
        unit = user_of(asked, order.user) or trace_id
        digest = hashlib.blake2b(unit.encode(), digest_size=16, key=self._secret).digest()
        group = Group.FAULT if order.with_fault and digest[0] & 1 else Group.CONTROL
        headers = self._plan(order, order.cut if group is Group.FAULT else _NO_FAULT, trace_id, span_id)
        headers |= {name: f"{headers[name]},{members}" for name, members in others.items() if members}
        if not self.may_mark():
            return {}
        self._on_mark(Mark(trace_id, span_id, group, digest[1:].hex(), self._clock()))
        return headers

    def _plan(self, order: MarkingOrder, cut: Cut, trace_id: str, span_id: str) -> dict[str, str]:
        return plan_headers(
            cut,
            trace_id=trace_id,
            span_id=span_id,
            key=self._key,
            environment=order.environment,
            expires=self._clock() + order.life,
            catalogue=order.catalogue,
            call_sites=order.call_sites,
            carriers=order.carriers,
        )


def _short(salt: str) -> bytes:
    return hashlib.blake2b(salt.encode(), digest_size=hashlib.blake2b.SALT_SIZE).digest()


def _others(text: str) -> str:
    members = (each.strip() for each in text.split(","))
    return ",".join(each for each in members if each and not each.startswith(_TRACE_TAG))
