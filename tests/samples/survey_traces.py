"""Traces of a small shop, for surveys of them."""

import random
from collections.abc import Iterator

from cutset.model.span import Span, SpanKind


def some_traces(number: int, seed: int = 1) -> Iterator[Span]:
    """Two pages, of which one has ids in its path; both ask a cache and, where that fails, a database."""
    rng = random.Random(seed)
    for index in range(number):
        path = rng.choice(["/cart", f"/user/{rng.randrange(10**6)}/orders"])
        trace_id, start_ns = f"{rng.getrandbits(128):032x}", 1_700_000_000_000_000_000 + index * 1_000_000
        yield _span(trace_id, start_ns, 1, SpanKind.SERVER, {"http.request.method": "GET", "url.path": path})
        broken = rng.random() < 0.1
        cached = {"db.system.name": "redis", "db.operation.name": "GET"}
        yield _span(trace_id, start_ns, 2, SpanKind.CLIENT, cached, error=broken)
        if broken:
            query = {"db.system.name": "postgresql", "db.operation.name": "SELECT", "db.collection.name": "carts"}
            yield _span(trace_id, start_ns, 3, SpanKind.CLIENT, query)


def _span(
    trace_id: str, start_ns: int, number: int, kind: SpanKind, attributes: dict[str, str], *, error: bool = False
) -> Span:
    start_ns += number * 1000
    parent_id = "" if number == 1 else f"{1:016x}"
    end_ns = start_ns + (9 - number) * 1_000_000
    return Span(trace_id, f"{number:016x}", parent_id, "web", "any", kind, start_ns, end_ns, error, attributes)
