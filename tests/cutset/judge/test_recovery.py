import pytest

from cutset.judge.recovery import Aftermath
from cutset.model.impact import Tally
from cutset.model.point import Point

API = Point("frontend", "GET /")
END = 1000.0


def after(*failed: int, requests: int = 50, usual: tuple[int, int] = (5, 1000)) -> Aftermath:
    """Failures in each second after the last fault."""
    aftermath = Aftermath()
    aftermath.add_before(Tally(API, requests=usual[1], failed=usual[0]))
    for second, each in enumerate(failed, start=1):
        aftermath.add_after(Tally(API, requests=requests, failed=each), END + second)
    return aftermath


def test_it_has_recovered_after_the_last_second_that_was_off() -> None:
    aftermath = after(20, 15, 0, 12, 0, 1, 0, 0, 0, 0)

    assert aftermath.seconds_after(END) == 4
    assert not aftermath.still_off


def test_an_api_that_was_never_off_has_nothing_to_recover_from() -> None:
    aftermath = after(0, 1, 2, 0, 1, 0)

    assert aftermath.seconds_after(END) is None
    assert not aftermath.still_off


def test_one_that_fails_until_the_end_is_still_off() -> None:
    aftermath = after(20, 20, 20, 20, 20)

    assert aftermath.seconds_after(END) is None
    assert aftermath.still_off


def test_a_few_failures_in_each_of_the_last_seconds_are_seen_together() -> None:
    assert after(3, 3, 3, 3, 3, requests=20).still_off


@pytest.mark.parametrize("failed", [1, 10])
def test_a_service_that_always_fails_so_often_is_not_off(failed: int) -> None:
    assert not after(*[failed] * 20, usual=(200 * failed, 10_000)).still_off


def test_without_anything_before_nothing_is_said() -> None:
    aftermath = after(50, 50, usual=(0, 0))

    assert aftermath.seconds_after(END) is None
    assert not aftermath.still_off
