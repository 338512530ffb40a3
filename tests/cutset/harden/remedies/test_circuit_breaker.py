from dataclasses import replace

from tests.samples.call_sites import READS, reason_of, settings_of

from cutset.harden.remedies import circuit_breaker


def test_one_replica_alone_is_not_taken_out() -> None:
    assert settings_of(circuit_breaker.advise(READS)) == {"outlier_detection": True}
    assert settings_of(circuit_breaker.advise(replace(READS, replicas=0))) == {"outlier_detection": True}
    assert "leaves none" in reason_of(circuit_breaker.advise(replace(READS, replicas=1)))
