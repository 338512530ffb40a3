"""What the service calls for a flow as it runs now, by the agent's spans.

Recordings may lack calls: a HAR file has none, and what happens after the answer, as messages are handled, comes later.
And they may have calls that are not made any more, such as those of a cache that was cold.
"""

import secrets
from collections.abc import Collection, Mapping
from dataclasses import replace

import aiohttp

from cutset.drill.observe import Observer
from cutset.drill.phases import SendFlow, marked
from cutset.drill.plan import CalledPlace, Flow, FlowStep
from cutset.lineage.operations import operation_of
from cutset.model.drill import ObservedOperation
from cutset.model.exchange import Exchange, Operation

RUNS = 8
LAST_RUNS = 4  # of these, whose calls count: the others fill caches and pools
ANSWER_SECONDS = 10.0


async def with_calls(flow: Flow, send: SendFlow, client: aiohttp.ClientSession, observer: Observer, key: bytes) -> Flow:
    traces: list[dict[int, str]] = []
    for _ in range(RUNS):
        own: dict[int, str] = {}

        def headers(step: int, own: dict[int, str] = own) -> Mapping[str, str]:
            own[step] = secrets.token_hex(16)
            observer.expect(own[step])
            return marked((), own[step], key, ANSWER_SECONDS)

        await send(client, headers, ANSWER_SECONDS)
        traces.append(own)
    await observer.settle()
    return replace(
        flow,
        steps=tuple(
            _completed(step, observer, [own[number] for own in traces[-LAST_RUNS:] if number in own])
            for number, step in enumerate(flow.steps)
        ),
    )


def _completed(step: FlowStep, observer: Observer, traces: list[str]) -> FlowStep:
    found: dict[CalledPlace, ObservedOperation] = {}
    for span in (span for trace in traces for span in observer.spans(trace)):
        if "cutset.endpoint" in span.attributes:
            operation = operation_of(span, span.start_ns)
            key = (span.service, operation.endpoint, operation.peer)
            found[key] = max(operation, found.get(key, operation), key=lambda each: each.occurrence)
    if not found:
        return step  # the agent saw nothing: what was recorded has to do
    exchanges = [at_present_peers(exchange, found) for exchange in (step.exchange, *step.consequences)]
    recorded = {(exchange.service, each.endpoint, each.peer) for exchange in exchanges for each in exchange.operations}
    new = tuple(
        _seen(step.exchange, service, operation)
        for (service, endpoint, peer), operation in sorted(found.items(), key=lambda item: item[0])
        if not recorded & {(service, endpoint, peer), (service, endpoint, "")}
    )
    return replace(step, exchange=exchanges[0], consequences=(*exchanges[1:], *new), called=frozenset(found))


def at_present_peers(exchange: Exchange, called: Collection[CalledPlace]) -> Exchange:
    """A store may have moved since it was recorded: if there is only one now, that is the one."""

    def moved(operation: Operation) -> Operation:
        now = {peer for service, name, peer in called if (service, name) == (exchange.service, operation.endpoint)}
        is_there = not operation.peer or operation.peer in now or len(now) != 1
        return operation if is_there else replace(operation, peer=now.pop())

    return replace(exchange, operations=tuple(map(moved, exchange.operations)))


def _seen(entry: Exchange, service: str, operation: ObservedOperation) -> Exchange:
    """Without payloads: of a statement only the verb is known."""
    call = Operation(
        operation.endpoint,
        operation.occurrence,
        entry.started_at,
        operation.seconds,
        operation.failed,
        operation.facts.get("verb", "").encode(),
        peer=operation.peer,
        peer_occurrence=int(operation.facts.get("peer_occurrence", 0)),
    )
    name = f"{entry.id}/{operation.endpoint} {operation.peer}".rstrip()
    return replace(entry, id=name, service=service, method="SEEN", operations=(call,))
