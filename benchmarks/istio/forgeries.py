"""Does a plan fire that nobody signed? Thousands of them, through the gateway, and past it right into a sidecar.

Among them are plans that must fire, so that a mesh that fires nothing proves nothing.
"""

import asyncio
import random
from collections import Counter
from functools import partial
from itertools import cycle, islice

from benchmarks.istio.ground import SHOP, Ground, private_key, tell
from benchmarks.istio.hops import WITH, hop_address
from benchmarks.istio.traffic import Answer, Question, ask_all
from tests.samples.forged_plans import WAYS, Forger

FORGED, QUICK_FORGED = 6_000, 600
CONNECTIONS = 8
GOOD, GOOD_EVERY = "as it must be", 50  # plans, one of which fires
STATUS = 418  # nobody else answers so
SEED = 20_261_117


def measure(at: Ground, *, quick: bool) -> dict[str, object]:
    number = (QUICK_FORGED if quick else FORGED) // 2
    tried: Counter[str] = Counter()
    fired: Counter[str] = Counter()
    for service, address in (("frontend", at.gateway), ("echo", hop_address(at, WITH))):
        forger = Forger(private_key(at), SHOP, [f"{service}/GET /:abort({STATUS})"], random.Random(SEED))
        names = list(islice(cycle(WAYS), number))
        for at_index in range(0, number, GOOD_EVERY):
            names.insert(at_index, GOOD)
        answers = asyncio.run(ask_all(address, [partial(_asked, forger, name) for name in names], CONNECTIONS))
        for name, answer in zip(names, answers, strict=True):
            tried[name] += 1
            if _fired(answer):
                fired[name] += 1
                if name != GOOD:
                    tell(f"{name}, at {service}: {answer.status} {dict(answer.headers)}")
    if fired[GOOD] != tried[GOOD]:
        raise SystemExit(f"{fired[GOOD]} of {tried[GOOD]} good plans fired: nothing can be said of forged ones")
    del tried[GOOD], fired[GOOD]
    tell(f"{tried.total()} forged plans of {len(tried)} kinds: {fired.total()} fired")
    return {"forged": tried.total(), "forged_fired": fired.total()}


def _asked(forger: Forger, name: str) -> Question:
    return Question(forger.plan(carriers=["tracestate", "baggage"]) if name == GOOD else WAYS[name](forger))


def _fired(answer: Answer) -> bool:
    """Anything but the answer that everybody gets."""
    return answer.status != 200 or "x-cutset-fault" in answer.headers
