from cutset.guards.latency import too_slow
from cutset.guards.settings import GuardSettings
from cutset.guards.vital_signs import Answers

LIMIT = GuardSettings(latency=0.5)


def test_it_trips_when_more_than_one_of_twenty_is_too_slow() -> None:
    assert too_slow(Answers(100, 0, 5), LIMIT) == ""
    assert too_slow(Answers(100, 0, 6), LIMIT) == (
        "6 of 100 requests without a fault took longer than `latency`, 0.5 s, in the last 30 s: at most one of 20 may"
    )


def test_a_few_requests_tell_nothing_and_without_a_limit_nothing_does() -> None:
    assert too_slow(Answers(19, 0, 19), LIMIT) == ""
    assert too_slow(Answers(100, 0, 100), GuardSettings()) == ""
