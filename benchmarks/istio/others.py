"""Are those traced who are not testing? Ordinary requests with every trace context of clients, among planned ones."""

import secrets
from collections import Counter
from functools import partial
from itertools import cycle, islice

from benchmarks.istio.ground import Ground, plan, private_key, tell
from benchmarks.istio.spans import asked_with_spans
from benchmarks.istio.traffic import Question

ORDINARY, QUICK_ORDINARY = 1_000, 200
PLANNED = 20  # among them
SPANS_OF_A_PLAN = 3  # one for each service of the shop
CONNECTIONS = 4


def measure(at: Ground, *, quick: bool) -> dict[str, object]:
    pem = private_key(at)
    traces = [secrets.token_hex(16) for _ in range(PLANNED)]
    ordinary = list(islice(cycle(CONTEXTS), QUICK_ORDINARY if quick else ORDINARY))
    questions = [partial(_ordinary, kind) for kind in ordinary]
    step = len(questions) // PLANNED
    for number, trace in enumerate(traces):
        questions.insert(number * (step + 1), partial(lambda trace: Question(plan(pem, trace=trace)), trace))
    answers, spans = asked_with_spans(at, at.gateway, questions, PLANNED * SPANS_OF_A_PLAN, CONNECTIONS)
    if {answer.status for answer in answers} != {200}:
        raise SystemExit(f"the shop answered with {Counter(answer.status for answer in answers)}")
    others = [span for span in spans if span.trace_id not in traces]
    for span in others[:20]:
        forced = [name for name in ("guid:x-client-trace-id", "guid:x-request-id") if name in span.attributes]
        tell(f"a span of somebody else: {span.service} {span.trace_id} {[span.attributes[name] for name in forced]}")
    tell(f"{len(spans)} spans of {PLANNED} plans among {len(ordinary)} requests of others, of whom {len(others)} spans")
    return {"untraced_others": len(others)}


def _traceparent(flags: str) -> dict[str, str]:
    return {"traceparent": f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-{flags}"}


def _b3() -> dict[str, str]:
    return {"x-b3-traceid": secrets.token_hex(16), "x-b3-spanid": secrets.token_hex(8), "x-b3-sampled": "1"}


# Not `x-client-trace-id`: who sends that asks every Envoy for a trace, and we take no header away from anybody.
CONTEXTS = (
    dict,
    partial(_traceparent, "00"),
    partial(_traceparent, "01"),
    lambda: _traceparent("01") | {"tracestate": "vendor=1", "baggage": "user=7"},
    _b3,
    lambda: {"x-envoy-force-trace": "true"},
)


def _ordinary(context: object) -> Question:
    return Question(context())  # type: ignore[operator]
