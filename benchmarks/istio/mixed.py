"""Experiments and ordinary requests on the same connections, thousands of them: does each get what it asked for?

Every plan of the shop has one outcome that follows from what it says, and so has every request without one.
"""

import asyncio
import json
import random
from dataclasses import dataclass
from functools import partial

from benchmarks.istio.ground import Ground, plan, private_key, tell
from benchmarks.istio.traffic import Answer, Question, ask_all

REQUESTS, QUICK_REQUESTS = 12_000, 1_000
CONNECTIONS = 8
ORDINARY = 0.5  # share of requests without a plan
SEED = 20_261_116

Seen = tuple[object, ...]  # status of the entry; of the backend, and its fault; of the quote


@dataclass(frozen=True, slots=True)
class Kind:
    faults: tuple[str, ...]
    expected: Seen
    delay: float = 0.0  # seconds that the answer has to take at least


ORDINARY_ANSWER: Seen = (200, 200, None, "OK")
KINDS = (
    Kind((), ORDINARY_ANSWER),
    Kind(("backend/GET /:abort(503)",), (502, 503, "abort(503)", "OK")),
    Kind(("backend/GET /:abort(418)",), (502, 418, "abort(418)", "OK")),
    Kind(("quote/Say:grpc(5)",), (502, 200, None, "NOT_FOUND")),
    Kind(("quote/Say:grpc(14)",), (502, 200, None, "UNAVAILABLE")),
    Kind(("quote/Say:grpc(14),attempts=1",), ORDINARY_ANSWER),  # Istio retries what is unavailable
    Kind(("backend/GET /:abort(500)", "quote/Say:grpc(8)"), (502, 500, "abort(500)", "RESOURCE_EXHAUSTED")),
    Kind(("backend/GET /:delay(40ms)",), ORDINARY_ANSWER, delay=0.04),
    Kind(("frontend/GET /:abort(429)",), (429, None, None, None)),
    Kind(("backend/GET /other:abort(503)", "nobody/Say:grpc(14)"), ORDINARY_ANSWER),  # for what is not called
)


def measure(at: Ground, *, quick: bool) -> dict[str, object]:
    pem = private_key(at)
    chance = random.Random(SEED)
    number = QUICK_REQUESTS if quick else REQUESTS
    chosen = [None if chance.random() < ORDINARY else chance.choice(KINDS) for _ in range(number)]
    questions = [partial(_question, pem, kind) for kind in chosen]
    answers = asyncio.run(ask_all(at.gateway, questions, CONNECTIONS))
    wrong = 0
    for kind, answer in zip(chosen, answers, strict=True):
        expected = kind.expected if kind else ORDINARY_ANSWER
        if seen(answer) != expected or answer.seconds < (kind.delay if kind else 0):
            wrong += 1
            tell(f"{kind}: {seen(answer)} in {answer.seconds:.3f} s, expected {expected}; {answer.body[:200]!r}")
    tell(f"{number} mixed requests, {sum(kind is None for kind in chosen)} of them without a plan: {wrong} wrong")
    return {"mixed_requests": number, "wrong_outcomes": wrong}


def _question(pem: bytes, kind: Kind | None) -> Question:
    return Question(plan(pem, *kind.faults) if kind else {})


def seen(answer: Answer) -> Seen:
    try:
        backend, quote = json.loads(answer.body)["called"]
    except (ValueError, KeyError, TypeError):
        return (answer.status, None, None, None)
    return (answer.status, backend["status"], backend.get("fault"), quote["status"])
