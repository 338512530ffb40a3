from cutset.guards.error_rate import too_many_errors
from cutset.guards.settings import GuardSettings
from cutset.guards.vital_signs import Answers

LIMIT = GuardSettings(error_rate=0.05)


def test_it_trips_above_the_limit_and_says_by_what() -> None:
    assert too_many_errors(Answers(100, 5), LIMIT) == ""
    assert too_many_errors(Answers(100, 6), LIMIT) == (
        "6 of 100 requests without a fault failed in the last 30 s: 6.0%, and `error_rate` is 5.0%"
    )


def test_a_few_requests_tell_nothing_of_a_rate() -> None:
    assert too_many_errors(Answers(19, 19), LIMIT) == ""
    assert too_many_errors(Answers(20, 20), LIMIT) != ""


def test_without_a_limit_or_with_none_it_never_does() -> None:
    assert too_many_errors(Answers(100, 100), GuardSettings()) == ""
    assert too_many_errors(Answers(100, 100), GuardSettings(error_rate=0.0)) == ""
