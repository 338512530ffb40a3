"""Who called, where the parent of a span is not in its trace: nobody knows, unless something in the trace proves it.

Collectors lose spans, and some SDKs send the server's half of a call without its parent. To take the request itself for
the caller names calls that nobody made. Three things prove more:

1. The other half of the call is there: a client's span that nobody answered, which names an API that this service
   alone answers in the trace, and no other service, or names this service and no other API. If there are several,
   they are of one execution.
2. The span says itself who called, and that service is at work in the trace.
3. The span is inner work of a service, and that is at work in the trace once.

Of times, shapes know the order in which spans began: a call begins before it is answered, except that clocks of two
machines differ, so that two other proofs are enough.
"""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import islice

from cutset.lineage.api_names import api_of, component_of
from cutset.model.call_tree import UNKNOWN, Component
from cutset.model.span import SpanKind, SpanLabel

MOST_COMPARED = 64  # of either half on either side of an orphan: real traces have a handful

_CALLING = frozenset({SpanKind.CLIENT, SpanKind.PRODUCER})
_CALLED = frozenset({SpanKind.SERVER, SpanKind.CONSUMER})
_OF_MESSAGES = frozenset({SpanKind.PRODUCER, SpanKind.CONSUMER})
_STORES = frozenset({Component.DATABASE, Component.CACHE})
_HALVES = {SpanKind.SERVER: SpanKind.CLIENT, SpanKind.CONSUMER: SpanKind.PRODUCER}
_SAYS_NOTHING = re.compile(r"(?:HTTP )?(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Placed:
    parents: Sequence[int]  # as they were, but for spans whose caller is proven
    halves: int = 0  # spans that found the other half of their call
    inferred: int = 0  # spans whose caller is proven otherwise: what was between is missing
    callers: dict[int, str] = field(default_factory=dict)  # of spans whose calling service alone is proven


@dataclass(frozen=True, slots=True)
class _Trace:
    spans: Sequence[SpanLabel]
    parents: list[int]  # as far as they are known by now
    entry: int
    # Clients' spans with nothing inside, by the API that they name and by the host, in the order of time.
    unanswered: dict[tuple[str, str], list[int]]
    servers: dict[str, set[str]]  # by API: the services that answered it


def placed(spans: Sequence[SpanLabel], parents: Sequence[int], entry: int, noise: Collection[int]) -> Placed:
    """`entry` is the root that the request entered by, `noise` positions that are no part of it."""
    orphans = [at for at, above in enumerate(parents) if above < 0 and at != entry and at not in noise]
    trace = _trace_of(spans, parents, entry, noise)
    for at in orphans:
        if spans[at].kind in _CALLED:
            _join(at, trace)
    known, callers = trace.parents, dict[int, str]()
    left = [at for at in orphans if known[at] < 0]
    work = _work(trace)
    for at in left:
        label = spans[at]
        said = label.peer if label.kind in _CALLED else label.service
        if said == label.service and label.kind in _CALLED:
            continue  # a server's own name says nothing of its caller
        places = [place for place in islice(work.get(said, ()), MOST_COMPARED) if _root(place, known) != at]
        if len(places) == 1:
            known[at] = places[0]
        elif places and label.kind in _CALLED:
            callers[at] = said
    return Placed(known, len(orphans) - len(left), sum(known[at] >= 0 for at in left), callers)


def _trace_of(spans: Sequence[SpanLabel], parents: Sequence[int], entry: int, noise: Collection[int]) -> _Trace:
    answered = {above for at, above in enumerate(parents) if at not in noise}
    trace = _Trace(spans, list(parents), entry, defaultdict(list), defaultdict(set))
    for at, label in enumerate(spans):
        if label.kind in _CALLED:
            trace.servers[_asked(label)].add(label.service)
        elif label.kind in _CALLING and at not in answered and component_of(label)[0] not in _STORES:
            for key in _keys(label, label.peer):
                trace.unanswered[key].append(at)
    return trace


def _join(at: int, trace: _Trace) -> None:
    """Hangs a server's span under the client's that it answers, if there is no doubt which."""
    label, parents = trace.spans[at], trace.parents
    near = {client for key in _keys(label, label.service) for client in _around(at, trace.unanswered.get(key, []))}
    fitting: defaultdict[int, list[int]] = defaultdict(list)
    for client in sorted(near):
        proofs = _proofs(trace.spans[client], label, trace)
        if (proofs == 2 or (proofs == 1 and client < at)) and _root(client, parents) != at:
            fitting[proofs].append(client)
    best = fitting[2] or fitting[1]
    if len({_execution(client, trace) for client in best}) == 1:
        parents[at] = next((client for client in reversed(best) if client < at), best[0])
        called = trace.spans[parents[at]]
        for key in _keys(called, called.peer):
            trace.unanswered[key].remove(parents[at])


def _around(at: int, positions: list[int]) -> list[int]:
    """Those next to a position, of any number: all with all would take long."""
    middle = bisect(positions, at)
    return positions[max(0, middle - MOST_COMPARED) : middle + MOST_COMPARED]


def _keys(label: SpanLabel, host: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("api", _asked(label)), ("host", _host(host))


def _asked(label: SpanLabel) -> str:
    return label.messaging_destination if label.kind in _OF_MESSAGES else api_of(label)


def _proofs(client: SpanLabel, server: SpanLabel, trace: _Trace) -> int:
    """How many things prove that these are the halves of one call, the API and the peer; none if one disproves it."""
    if client.kind is not _HALVES[server.kind]:
        return 0
    asked, told = _asked(client), _asked(server)
    if client.kind is SpanKind.PRODUCER:
        return int(asked == told and (asked != "" or client.peer == server.peer != ""))
    met = _host(client.peer) == _host(server.service)
    others = any(client.peer in services for services in trace.servers.values()) or len(trace.servers[told]) > 1
    if (asked != told and _tells(client) and _tells(server)) or (others and not met):
        return 0
    named = asked == told != UNKNOWN and (_tells(client) or _SAYS_NOTHING.fullmatch(asked) is None)
    return named + met


def _tells(label: SpanLabel) -> bool:
    return bool(label.rpc_method or label.http_route or label.url_path)


def _host(name: str) -> str:
    """`cart` of `cart.shop.svc` and of `Cart`."""
    return name.partition(".")[0].lower()


def _work(trace: _Trace) -> dict[str, list[int]]:
    """By service: where its executions begin."""
    work: defaultdict[str, list[int]] = defaultdict(list)
    for at, label in enumerate(trace.spans):
        if _begins(at, trace):
            work[label.service].append(at)
    return work


def _begins(at: int, trace: _Trace) -> bool:
    label, above = trace.spans[at], trace.parents[at]
    if above < 0:
        return at == trace.entry or label.kind in _CALLED
    around = trace.spans[above]
    return label.service != around.service or (label.kind in _CALLED and around.kind in _CALLING)


def _execution(at: int, trace: _Trace) -> int:
    """Where the work began that a span is part of."""
    seen = {at}
    while not _begins(at, trace) and trace.parents[at] >= 0 and trace.parents[at] not in seen:
        at = trace.parents[at]
        seen.add(at)  # malformed traces may hold a cycle of parents
    return at


def _root(at: int, parents: Sequence[int]) -> int:
    seen = {at}
    while parents[at] >= 0 and parents[at] not in seen:
        at = parents[at]
        seen.add(at)
    return at
