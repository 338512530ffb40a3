from dataclasses import replace

from tests.samples.call_sites import READS, reason_of, settings_of

from cutset.harden.remedies import bulkhead


def test_a_bulkhead_leaves_room_above_what_is_under_way() -> None:
    assert settings_of(bulkhead.advise(READS)) == {"max_parallel": 60}  # 3 × 100 a second × 0.2 s
    assert settings_of(bulkhead.advise(replace(READS, per_second=0.1))) == {"max_parallel": 10}
    assert "not known" in reason_of(bulkhead.advise(replace(READS, per_second=None)))
