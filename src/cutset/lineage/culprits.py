"""Which calls failed by themselves: not because of a fault, nor because of a call that they made.

These are where to look when a request fails without any fault, and what tells an outage from the effect of a cut.
"""

from collections.abc import Sequence
from dataclasses import replace

from cutset.lineage.agent_calls import agent_calls_of
from cutset.lineage.calls import AttemptedCall, calls_of
from cutset.model.outcome import Points
from cutset.model.span import Span


def culprits_of(spans: Sequence[Span], root_id: str) -> Points:
    """The APIs of such calls, and data stores and third parties as agents tell of them."""
    parents = {span.span_id: span.parent_id for span in spans}
    at_agents = [call for call in agent_calls_of(spans, root_id, {}) if call.attempts[0].point.is_endpoint]
    calls = [*calls_of(spans, root_id), *at_agents]
    failed = [call for call in calls if call.failed]
    excused: set[str] = set()  # spans with a failed call somewhere below, or with a fault that its answer hides
    for call in (*failed, *(call for call in calls if any(attempt.injected for attempt in call.attempts))):
        for attempt in call.attempts:
            enclosing = attempt.span.parent_id
            while enclosing in parents and enclosing not in excused:
                excused.add(enclosing)
                enclosing = parents[enclosing]
    return frozenset(
        replace(call.attempts[-1].point, replica="") for call in failed if not _is_explained(call, excused)
    )


def _is_explained(call: AttemptedCall, excused: set[str]) -> bool:
    return any(attempt.injected or attempt.span.span_id in excused for attempt in call.attempts)
