"""The flows of a recording: what a client sent, each request with all that happened because of it."""

from collections import defaultdict
from collections.abc import Sequence

from cutset.drill.plan import Flow, FlowStep
from cutset.model.exchange import Exchange
from cutset.workload.templates.rules import Rules
from cutset.workload.templates.template import templates_of

MESSAGE = "MESSAGE"  # how the agent records a message that was handled, in place of a method


def flows_of(exchanges: Sequence[Exchange], rules: Rules = ()) -> list[Flow]:
    """Within a trace the earliest request is the client's own; calls between services and messages follow from it."""
    by_trace: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in sorted(exchanges, key=lambda each: each.started_at):
        by_trace[exchange.trace_id or exchange.id].append(exchange)
    consequences: dict[str, tuple[Exchange, ...]] = {}
    entries: list[Exchange] = []
    for together in by_trace.values():
        entry = next((each for each in together if each.method != MESSAGE), None)
        if entry is not None:
            entries.append(entry)
            consequences[entry.id] = tuple(each for each in together if each is not entry)
    return [
        Flow(
            tuple(FlowStep(step.name, step.exchange, consequences[step.exchange.id]) for step in template.steps),
            template,
        )
        for template in templates_of(entries, rules)
    ]
