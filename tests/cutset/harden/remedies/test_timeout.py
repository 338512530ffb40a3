from dataclasses import replace

import pytest
from tests.samples.call_sites import READS, STEADY, reason_of, settings_of

from cutset.harden.remedies import timeout
from cutset.model.advice import Advice
from cutset.model.effect import UNAVAILABLE, Effect
from cutset.model.hardening import Latency


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


def test_where_a_slow_answer_is_fatal_a_timeout_is_advised_whatever_is_known_of_latencies() -> None:
    slow = replace(READS, fatal=(Effect.parse("timeout"),), survived=(UNAVAILABLE,))

    unknown = timeout.advise(replace(slow, latency=None))

    assert isinstance(unknown, Advice)
    assert unknown.why.startswith("requests fail with timeout, and its failure alone is survived, so that this is")
    assert unknown.settings == {}
    assert settings_of(timeout.advise(slow)) == {"timeout_seconds": 0.6}
