"""Which calls of data stores and brokers change something, which of them took effect, and which are lost.

A request whose answer is as ever may have left out what nobody sees: the order was confirmed and never stored, its
event never published. What every request without a fault writes is learnt; where one of these writes failed or was not
made, and no other write made up for it, the answer is degraded. Caches are no place where anything can be lost, but for
queues, counters and sets that are kept in one.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cutset.model.difference import Difference, DifferenceKind
from cutset.model.drill import ObservedOperation
from cutset.model.point import Point
from cutset.model.writing import SQL_WRITES, WRITE_METHODS

DONE_ALTHOUGH_FAILED = "lost-answer"  # the fault at which the operation was done
FAILED = "failed"

_WRITE_METHODS = re.compile(WRITE_METHODS)
_STORE_METHODS = re.compile(r"[lr]push\w*|xadd|publish|spublish|h?(incr|decr)\w*|[sz]add|setnx|linsert")
_LOSABLE = ("db", "mq", "cache")  # what a remote service did with a call is for its own agent to tell

Operations = Mapping[str, tuple[ObservedOperation, ...]]  # of one request, by the service that made them
_Write = tuple[str, str, str]  # endpoint, peer and verb


@dataclass(frozen=True, slots=True)
class UsualWrites:
    """Of requests without a fault; by the service that makes them."""

    least: Mapping[str, Counter[_Write]] = field(default_factory=dict)
    most: Mapping[str, Counter[_Write]] = field(default_factory=dict)
    verbs: Mapping[str, Mapping[tuple[str, int], str]] = field(default_factory=dict)  # by endpoint and occurrence
    commits: frozenset[tuple[str, str]] = frozenset()  # service and peer: transactions are ended by a call of their own


def usual_writes(runs: Sequence[Operations]) -> UsualWrites:
    services = {service for run in runs for service in run}
    commits = frozenset((each, _peer(call)) for each in services for call in _of(runs, each) if _is_commit(call))
    verbs = {
        service: {(each.endpoint, each.occurrence): each.facts.get("verb", "") for each in _of(runs, service)}
        for service in services
    }
    known = UsualWrites(verbs=verbs, commits=commits)
    done = {service: [_done(run, service, known) for run in runs] for service in services}
    least = {service: _least(counts) for service, counts in done.items()}
    most = {service: _most(counts) for service, counts in done.items()}
    return UsualWrites(least, most, verbs, commits)


def narrowed_writes(usual: UsualWrites, run: Operations) -> UsualWrites:
    """By one more request without a fault: what it did not write is not always written."""
    done = {service: _done(run, service, usual) for service in usual.least.keys() | run.keys()}
    least = {service: _least([counts, done.get(service, Counter())]) for service, counts in usual.least.items()}
    most = {service: _most([usual.most.get(service, Counter()), counts]) for service, counts in done.items()}
    return UsualWrites(least, most, usual.verbs, usual.commits)


def lost_writes(usual: UsualWrites, run: Operations, certain: Collection[str]) -> list[Difference]:
    """Of services that are not `certain` to have told of all their calls, only those that were seen to fail count."""
    done = {service: _done(run, service, usual) for service in usual.least.keys() | run.keys()}
    if any(_made_up_for(usual.most.get(service, Counter()), counts) for service, counts in done.items()):
        return []
    return sorted(
        difference
        for service, least in usual.least.items()
        for write in least - done[service]
        if (difference := _lost(service, write, run)).now == FAILED or service in certain
    )


def _lost(service: str, write: _Write, run: Operations) -> Difference:
    endpoint, peer, verb = write
    component, _, rest = endpoint.partition("/")
    point = Point(component, f"{rest} {peer}" if peer else rest, caller=service)
    alike = [
        each
        for each in run.get(service, ())
        if each.endpoint == endpoint and _peer(each) == peer and each.facts.get("verb", verb) == verb
    ]
    made = "was not committed" if alike else "was not made"
    return Difference(DifferenceKind.WRITE, str(point), verb, FAILED if any(each.failed for each in alike) else made)


def _made_up_for(most: Counter[_Write], done: Counter[_Write]) -> bool:
    """By a write that requests without a fault do not make: into an outbox, to a second broker."""
    return any(count > most[write] for write, count in done.items())


def _least(counts: Sequence[Counter[_Write]]) -> Counter[_Write]:
    least = counts[0]
    for each in counts[1:]:
        least = least & each
    return least


def _most(counts: Iterable[Counter[_Write]]) -> Counter[_Write]:
    most: Counter[_Write] = Counter()
    for each in counts:
        most |= each
    return most


def _of(runs: Iterable[Operations], service: str) -> Iterator[ObservedOperation]:
    for run in runs:
        yield from run.get(service, ())


def _done(run: Operations, service: str, usual: UsualWrites) -> Counter[_Write]:
    operations = [each for each in run.get(service, ()) if each.endpoint.partition("/")[0] in _LOSABLE]
    done: Counter[_Write] = Counter()
    for peer in sorted({_peer(each) for each in operations}):  # a transaction is of one database
        there = [each for each in operations if _peer(each) == peer]
        verbs, commits = usual.verbs.get(service, {}), (service, peer) in usual.commits
        for (endpoint, verb), count in took_effect(there, verbs, commits=commits).items():
            done[endpoint, peer, verb] += count
    return done


def _peer(operation: ObservedOperation) -> str:
    return operation.facts.get("peer", "")


def _is_commit(operation: ObservedOperation) -> bool:
    return operation.endpoint.endswith("/commit")


def took_effect(
    operations: Iterable[ObservedOperation], verbs: Mapping[tuple[str, int], str], *, commits: bool
) -> Counter[tuple[str, str]]:
    """Writes that did, by endpoint and verb. Where there are commits, those of a transaction count after its own.

    A call whose answer was lost has no facts: `verbs` has those of the same call without a fault.
    """
    done: Counter[tuple[str, str]] = Counter()
    pending: Counter[tuple[str, str]] = Counter()
    for operation in sorted(operations, key=lambda each: each.started_at):
        effective = not operation.failed or DONE_ALTHOUGH_FAILED in operation.fault
        in_database = operation.endpoint.startswith("db/")
        verb = operation.facts.get("verb") or verbs.get((operation.endpoint, operation.occurrence), "")
        if _is_commit(operation):
            done += pending if effective else Counter()
            pending.clear()
        elif in_database and operation.failed and commits:
            pending.clear()  # the transaction is void, and with it what it did so far
        elif effective and is_write(operation, verb) and operation.facts.get("rows") != "0":
            (pending if in_database and commits else done)[operation.endpoint, verb] += 1
    return done


def is_kept(endpoint: str) -> bool:
    """Queues, counters and the like are no cache, although they are kept in one."""
    component, _, rest = endpoint.partition("/")
    return component == "cache" and _STORE_METHODS.fullmatch(rest.partition("/")[2]) is not None


def is_write(operation: ObservedOperation, verb: str = "") -> bool:
    component, _, rest = operation.endpoint.partition("/")
    verb = (operation.facts.get("verb") or verb).upper()
    if component == "db" and verb:
        return verb in SQL_WRITES
    if is_kept(operation.endpoint):
        return True
    return component in ("db", "mq", "rpc") and _WRITE_METHODS.fullmatch(rest.partition("/")[2]) is not None
