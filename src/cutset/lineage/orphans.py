"""Who called, where the parent of a span is not in its trace: nobody knows, unless something in the trace proves it.

Collectors lose spans, and some SDKs send the server's half of a call without its parent. To take the request itself for
the caller names calls that nobody made. Three things prove more:

1. The other half of the call is there: a client's span that nobody answered, which names the same API and no other
   service, or this service and no other API. With several such clients, they must be of one execution.
2. The span says itself who called, and that service is at work in the trace.
3. The span is inner work of a service, and that is at work in the trace once.

Of times, shapes know the order in which spans began: a call begins before it is answered, except that clocks of two
machines differ, so that two other proofs are enough.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from cutset.lineage.api_names import api_of, component_of
from cutset.model.call_tree import UNKNOWN, Component
from cutset.model.span import SpanKind, SpanLabel

_CALLING = frozenset({SpanKind.CLIENT, SpanKind.PRODUCER})
_CALLED = frozenset({SpanKind.SERVER, SpanKind.CONSUMER})
_HALVES = {SpanKind.SERVER: SpanKind.CLIENT, SpanKind.CONSUMER: SpanKind.PRODUCER}
_SAYS_NOTHING = re.compile(r"(HTTP )?[A-Z]*", re.IGNORECASE)  # `GET`, `HTTP POST`


@dataclass(frozen=True, slots=True)
class Placed:
    parents: Sequence[int]  # as they were, but for spans whose caller is proven
    halves: int = 0  # spans that found the other half of their call
    inferred: int = 0  # spans whose caller is proven otherwise: what was between is missing
    callers: dict[int, str] = field(default_factory=dict)  # of spans whose calling service alone is proven


def placed(trace: Sequence[SpanLabel], parents: Sequence[int], entry: int, noise: Collection[int]) -> Placed:
    """`entry` is the root that the request entered by, `noise` positions that are no part of it."""
    orphans = [at for at, above in enumerate(parents) if above < 0 and at != entry and at not in noise]
    known = list(parents)
    halves = sum(_joined(at, trace, known, entry, noise) for at in orphans if trace[at].kind in _CALLED)
    left = [at for at in orphans if known[at] < 0]
    callers: dict[int, str] = {}
    work = _work(trace, known, entry)
    for at in left:
        label = trace[at]
        said = label.peer if label.kind in _CALLED else label.service
        places = [place for place in work.get(said, ()) if _root(place, known) != at]
        if said == label.service and label.kind in _CALLED:
            continue  # a server's own name says nothing of its caller
        if len(places) == 1:
            known[at] = places[0]
        elif places and label.kind in _CALLED:
            callers[at] = said
    return Placed(known, halves, sum(known[at] >= 0 for at in left), callers)


def _joined(at: int, trace: Sequence[SpanLabel], parents: list[int], entry: int, noise: Collection[int]) -> bool:
    """Hangs a server's span under the client's that it answers, if there is no doubt which."""
    answered = {above for each, above in enumerate(parents) if each not in noise}
    services = {label.service for label in trace}
    fitting: defaultdict[int, list[int]] = defaultdict(list)
    for client, label in enumerate(trace):
        if client in answered or label.kind is not _HALVES[trace[at].kind] or _root(client, parents) == at:
            continue
        proofs = _proofs(label, trace[at], services)
        if proofs == 2 or (proofs == 1 and client < at):
            fitting[proofs].append(client)
    best = fitting[2] or fitting[1]
    if len({_execution(client, trace, parents, entry) for client in best}) != 1:
        return False
    parents[at] = next((client for client in reversed(best) if client < at), best[0])
    return True


def _proofs(client: SpanLabel, server: SpanLabel, services: Collection[str]) -> int:
    """How many things prove that these are the halves of one call, the API and the peer; none if one disproves it."""
    if component_of(client)[0] in (Component.DATABASE, Component.CACHE):
        return 0
    met = _host(client.peer) == _host(server.service)
    if client.peer and not met and client.peer in services:
        return 0
    if client.kind is SpanKind.PRODUCER:
        same = client.messaging_destination == server.messaging_destination
        return int(same and (client.messaging_destination != "" or client.peer == server.peer != ""))
    asked, told = api_of(client), api_of(server)
    if asked != told and _tells(client) and _tells(server):
        return 0
    named = asked == told != UNKNOWN and (_tells(client) or _SAYS_NOTHING.fullmatch(asked) is None)
    return named + met


def _tells(label: SpanLabel) -> bool:
    return bool(label.rpc_method or label.http_route or label.url_path)


def _host(name: str) -> str:
    """`cart` of `cart.shop.svc` and of `Cart`."""
    return name.partition(".")[0].lower()


def _work(trace: Sequence[SpanLabel], parents: Sequence[int], entry: int) -> dict[str, list[int]]:
    """By service: where its executions begin."""
    work: defaultdict[str, list[int]] = defaultdict(list)
    for at, label in enumerate(trace):
        if _begins(at, trace, parents, entry):
            work[label.service].append(at)
    return work


def _begins(at: int, trace: Sequence[SpanLabel], parents: Sequence[int], entry: int) -> bool:
    above = parents[at]
    if above < 0:
        return at == entry or trace[at].kind in _CALLED
    called = trace[at].kind in _CALLED and trace[above].kind in _CALLING
    return called or trace[at].service != trace[above].service


def _execution(at: int, trace: Sequence[SpanLabel], parents: Sequence[int], entry: int) -> int:
    """Where the work began that a span is part of."""
    seen = {at}
    while not _begins(at, trace, parents, entry) and parents[at] >= 0 and parents[at] not in seen:
        at = parents[at]
        seen.add(at)  # malformed traces may hold a cycle of parents
    return at


def _root(at: int, parents: Sequence[int]) -> int:
    seen = {at}
    while parents[at] >= 0 and parents[at] not in seen:
        at = parents[at]
        seen.add(at)
    return at
