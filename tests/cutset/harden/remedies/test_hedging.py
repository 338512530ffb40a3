from dataclasses import replace

from tests.samples.call_sites import READS, STEADY, WRITES, reason_of, settings_of

from cutset.harden.remedies import hedging


def test_hedging_is_for_long_tails() -> None:
    tail = replace(STEADY, p99=0.5)
    assert settings_of(hedging.advise(replace(READS, latency=tail))) == {"hedge_after_seconds": 0.5}
    assert "2.0 times the median" in reason_of(hedging.advise(READS))
    assert "second replica" in reason_of(hedging.advise(replace(READS, latency=tail, replicas=1)))
    assert "1,000 calls" in reason_of(hedging.advise(replace(READS, latency=replace(tail, calls=999))))


def test_what_may_change_something_is_not_hedged() -> None:
    assert "harmless" in reason_of(hedging.advise(WRITES))
