from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.judge.user_sums import UserSums

Requests = list[tuple[str, bool]]
requests = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.booleans()), max_size=80)


def added(of: Requests) -> UserSums:
    sums, seen = UserSums(), Counter[str]()
    for user, bad in of:
        sums.add(user, seen[user], bad=bad)
        seen[user] += 1
    return sums


@given(requests)
def test_sums_tell_what_the_list_of_all_users_tells(of: Requests) -> None:
    sums = added(of)
    all_of, bad_of = Counter(user for user, _ in of), Counter(user for user, bad in of if bad)
    size = len(of) / len(all_of) if all_of else 1.0
    users = [(float(bad_of[user]), float(count)) for user, count in all_of.items()] + [(size, size), (0.0, size)]
    total = sum(count for _, count in users)
    share = sum(bad for bad, _ in users) / total

    assert (sums.users, sums.requests, sums.bad) == (len(all_of), len(of), sum(bad_of.values()))
    assert sums.smoothed().share == pytest.approx(share)
    assert sums.smoothed().variance == pytest.approx(sum((bad - share * count) ** 2 for bad, count in users) / total**2)


@given(st.lists(st.booleans(), max_size=60))
def test_users_of_one_request_each_give_agresti_and_caffos_estimate(bad: list[bool]) -> None:
    sums = added([(str(number), each) for number, each in enumerate(bad)])
    share = (sum(bad) + 1) / (len(bad) + 2)

    assert sums.smoothed().share == pytest.approx(share)
    assert sums.smoothed().variance == pytest.approx(share * (1 - share) / (len(bad) + 2))
    assert sums.effective_requests == pytest.approx(len(bad), abs=1e-6)


def test_users_who_always_do_the_same_tell_no_more_than_once() -> None:
    once = added([(str(user), user % 4 == 0) for user in range(100)])
    ten_times = added([(str(user), user % 4 == 0) for user in range(100) for _ in range(10)])

    assert ten_times.smoothed().variance == pytest.approx(once.smoothed().variance)
    assert ten_times.effective_requests == pytest.approx(100)


def test_no_failure_of_few_users_is_no_certainty_however_many_requests_they_send() -> None:
    few = added([(str(number % 5), False) for number in range(1000)])

    assert few.effective_requests == pytest.approx(5)
    assert few.smoothed().variance > 0.01
