"""What is known of two call sites, one that only reads and one that writes, and what remedies say of them."""

from dataclasses import replace

from cutset.harden.remedies.evidence import SiteEvidence
from cutset.model.advice import Advice, Declined
from cutset.model.hardening import Latency
from cutset.model.point import Point

STEADY = Latency(calls=5_000, median=0.1, p99=0.2, p999=0.4, longest=2.0)
READS = SiteEvidence(
    Point("cart", "GetCart"), breaks=("GET /",), latency=STEADY, per_second=100.0, replicas=3, retries=0
)
WRITES = replace(READS, site=Point("payment", "Charge"))


def settings_of(said: Advice | Declined) -> dict[str, object]:
    assert isinstance(said, Advice)
    return dict(said.settings)


def reason_of(said: Advice | Declined) -> str:
    assert isinstance(said, Declined)
    return said.why
