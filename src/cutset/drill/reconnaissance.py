"""What the service calls for a flow as it runs now, by the agent's spans.

Recordings may lack calls: a HAR file has none, and what happens after the answer, as messages are handled, comes later.
And they may have calls that are not made any more, such as those of a cache that was cold.
"""

import secrets
from collections.abc import Mapping
from dataclasses import replace

import aiohttp

from cutset.drill.observe import Observer, operation_of
from cutset.drill.phases import SendFlow, marked
from cutset.drill.plan import Flow, FlowStep
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
    found: dict[tuple[str, str], ObservedOperation] = {}
    for span in (span for trace in traces for span in observer.spans(trace)):
        if "cutset.endpoint" in span.attributes:
            operation = operation_of(span, span.start_ns)
            key = (span.service, operation.endpoint)
            found[key] = max(operation, found.get(key, operation), key=lambda each: each.occurrence)
    if not found:
        return step  # the agent saw nothing: what was recorded has to do
    recorded = {
        (exchange.service, operation.endpoint)
        for exchange in (step.exchange, *step.consequences)
        for operation in exchange.operations
    }
    new = tuple(
        _seen(step.exchange, service, operation)
        for (service, _), operation in sorted(found.items(), key=lambda item: item[0])
        if (service, operation.endpoint) not in recorded
    )
    return replace(step, consequences=step.consequences + new, called=frozenset(found))


def _seen(entry: Exchange, service: str, operation: ObservedOperation) -> Exchange:
    """Without payloads: of a statement only the verb is known."""
    call = Operation(
        operation.endpoint,
        operation.occurrence,
        entry.started_at,
        operation.seconds,
        operation.failed,
        operation.facts.get("verb", "").encode(),
    )
    return replace(entry, id=f"{entry.id}/{operation.endpoint}", service=service, method="SEEN", operations=(call,))
