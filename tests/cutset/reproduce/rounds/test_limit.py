import pytest

from cutset.reproduce.rounds.limit import limit_after


@pytest.mark.parametrize(
    ("good", "timeout", "quiet", "limit"),
    [
        ([0.5, 0.4], 60, 0, 15),  # time to try again and give up
        ([2, 3], 60, 0, 35),
        ([17, 20], 600, 0, 115),  # a server of which a fault takes a part does not wait ten times as long
        ([60], 600, 0, 275),
        ([20], 60, 0, 60),  # the user's is the last word
        ([0.5], 10, 0, 10),
        ([0.5], 200, 30, 60.5),  # a hang takes its time to be seen
        ([], 60, 0, 60),
    ],
)
def test_a_round_may_take_several_times_as_long_as_good_runs_within_what_the_user_allows(good, timeout, quiet, limit):
    assert limit_after(good, timeout, quiet) == limit
