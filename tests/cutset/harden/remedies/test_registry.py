"""Each remedy is advised on its evidence, and declined with a reason without it."""

from dataclasses import replace

import pytest

from cutset.harden.remedies import bulkhead, circuit_breaker, fallback, hedging, retry, timeout
from cutset.harden.remedies.evidence import Evidence, Latency
from cutset.harden.remedies.registry import REMEDIES, advise, explanations
from cutset.model.advice import Advice, Declined
from cutset.model.point import Point

STEADY = Latency(calls=5_000, median=0.1, p99=0.2, p999=0.4, longest=2.0)
READS = Evidence(Point("cart", "GetCart"), breaks=("GET /",), latency=STEADY, per_second=100.0, replicas=3, retries=0)
WRITES = replace(READS, site=Point("payment", "Charge"))


def settings_of(said: Advice | Declined) -> dict[str, object]:
    assert isinstance(said, Advice)
    return dict(said.settings)


def reason_of(said: Advice | Declined) -> str:
    assert isinstance(said, Declined)
    return said.why


def test_with_all_the_evidence_everything_but_what_would_not_pay_is_advised() -> None:
    advice, declined = advise(READS)
    assert [each.remedy for each in advice] == ["fallback", "timeout", "retry", "circuit-breaker", "bulkhead"]
    assert [each.remedy for each in declined] == ["hedging"]
    assert [each.remedy for each in advice if each.survives_outage] == ["fallback"]


def test_without_evidence_nothing_is_made_up() -> None:
    advice, declined = advise(Evidence(Point("payment", "Charge")))
    assert [each.remedy for each in advice] == ["fallback", "circuit-breaker"]
    assert all(each.why for each in declined)


@pytest.mark.parametrize("name", REMEDIES)
def test_each_explains_itself_with_an_example_and_risks(name: str) -> None:
    text = explanations()[name]
    assert all(part in text for part in ("Advised when: ", "Example:\n\nservices:", "Risks:\n- "))


@pytest.mark.parametrize(
    ("latency", "seconds"),
    [
        (STEADY, 0.6),  # 1.5 times the slowest in a thousand
        (replace(STEADY, p999=0.001), 0.25),
        (replace(STEADY, p999=60.0), 15.0),
        (replace(STEADY, calls=999), 6.0),  # the tail was not seen: 3 times the slowest
        (replace(STEADY, calls=999, longest=0.01), 1.0),
    ],
)
def test_a_timeout_follows_from_latencies_within_bounds(latency: Latency, seconds: float) -> None:
    assert settings_of(timeout.advise(replace(READS, latency=latency))) == {"timeout_seconds": seconds}


def test_a_timeout_needs_latencies() -> None:
    assert "no latencies" in reason_of(timeout.advise(replace(READS, latency=None)))


@pytest.mark.parametrize(("replicas", "retries"), [(0, 1), (1, 1), (2, 1), (3, 2), (9, 2)])
def test_retries_are_few_and_have_a_budget(replicas: int, retries: int) -> None:
    said = retry.advise(replace(READS, replicas=replicas))
    assert settings_of(said) == {"retries": retries, "retry_budget_percent": 20.0}


def test_what_may_change_something_is_not_retried_nor_hedged() -> None:
    assert "idempotent" in reason_of(retry.advise(WRITES))
    assert "harmless" in reason_of(hedging.advise(WRITES))
    assert settings_of(retry.advise(replace(WRITES, recovered=1)))


def test_what_the_mesh_does_already_is_not_advised_again() -> None:
    assert "already makes 1 attempt more" in reason_of(retry.advise(replace(READS, retries=1)))


def test_a_fallback_repeats_answers_of_what_only_reads() -> None:
    assert settings_of(fallback.advise(READS)) == {"fallback": {"GetCart": "last-good"}}
    assert settings_of(fallback.advise(WRITES)) == {}
    assert "outbox" in fallback.advise(WRITES).why
    assert settings_of(fallback.advise(replace(READS, site=Point("cart", "GET /cart")))) == {}


def test_a_fallback_points_to_code_that_has_one_already() -> None:
    assert "`GET /a` does without it already" in fallback.advise(replace(READS, tolerated=("GET /a",))).why
    instead = frozenset({Point("cache", "Get")})
    assert "`cache/Get` is asked instead already" in fallback.advise(replace(READS, instead=instead)).why


def test_one_replica_alone_is_not_taken_out() -> None:
    assert settings_of(circuit_breaker.advise(READS)) == {"outlier_detection": True}
    assert settings_of(circuit_breaker.advise(replace(READS, replicas=0))) == {"outlier_detection": True}
    assert "leaves none" in reason_of(circuit_breaker.advise(replace(READS, replicas=1)))


def test_hedging_is_for_long_tails() -> None:
    tail = replace(STEADY, p99=0.5)
    assert settings_of(hedging.advise(replace(READS, latency=tail))) == {"hedge_after_seconds": 0.5}
    assert "2.0 times the median" in reason_of(hedging.advise(READS))
    assert "second replica" in reason_of(hedging.advise(replace(READS, latency=tail, replicas=1)))
    assert "1,000 calls" in reason_of(hedging.advise(replace(READS, latency=replace(tail, calls=999))))


def test_a_bulkhead_leaves_room_above_what_is_under_way() -> None:
    assert settings_of(bulkhead.advise(READS)) == {"max_parallel": 60}  # 3 × 100 a second × 0.2 s
    assert settings_of(bulkhead.advise(replace(READS, per_second=0.1))) == {"max_parallel": 10}
    assert "not known" in reason_of(bulkhead.advise(replace(READS, per_second=None)))
