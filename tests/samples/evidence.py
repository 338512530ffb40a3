"""What was kept of a request that failed for want of a cart, and of one that did not, both with hostile names."""

from tests.samples.campaign import cut

from cutset.model.evidence import EvidenceKept, KeptAnswer, KeptSpan, Teller
from cutset.model.span import SpanKind

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
PAGE = f"<!doctype html>\n<h1>Sorry</h1>\n<script>parent.alert(1)</script>{HOSTILE}"


def span(number: int, parent: int, service: str, name: str, **fields: object) -> KeptSpan:
    given = {"teller": Teller.MESH, "kind": SpanKind.SERVER, "start": 1000 * number, "duration": 4000} | fields
    return KeptSpan(id=str(number), parent=str(parent) if parent else "", service=service, name=name, **given)  # type: ignore[arg-type]


FAULTED = EvidenceKept(
    request="GET /",
    cut=cut("cart/GetCart"),
    trace_id="a" * 8,
    answer=KeptAnswer(500, "text/html; charset=utf-8", PAGE, 120, 0.31),
    spans=(
        span(1, 0, "frontend", "GET /", error=True, status="500", duration=20_000),
        span(2, 1, "frontend", HOSTILE, teller=Teller.SERVICE, kind=SpanKind.CLIENT),
        span(3, 2, "cart", "GetCart", error=True, status="grpc 14", fault="cart/GetCart:abort(503)"),
    ),
)
HEALTHY = EvidenceKept(
    request="GET /",
    cut=frozenset(),
    trace_id="c" * 8,
    answer=KeptAnswer(200, "text/html; charset=utf-8", "<!doctype html>\n<h1>Cart</h1>", 29, 0.12),
    spans=(span(1, 0, "frontend", "GET /", status="200"), span(2, 1, "cart", "GetCart", status="grpc 0")),
)
