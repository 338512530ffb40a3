"""The answer key of the planted system, by its users: each fault in turn, for all of them."""

import time

import pytest
from benchmarks.impact.place import ENVIRONMENT, run_place
from benchmarks.impact.planted_system import AFFECTED, ENTRY, GRPC, cases
from benchmarks.impact.users import UsersOrder

SLOW_MILLISECONDS = 500  # all that is slow here takes 600 more
ROUNDS = 20
AT_ONCE = [case for case in cases() if not case.site.leaks]


@pytest.fixture(scope="module")
def place():
    with run_place(
        "benchmarks.impact.planted_system:services", entry=ENTRY, grpc=GRPC, requests=["/pay"], sections={}
    ) as place:
        yield place


def test_there_are_at_least_twelve_call_sites():
    assert len({case.site.point for case in cases()}) >= 12


@pytest.mark.parametrize("case", AT_ONCE, ids=lambda case: case.fault)
def test_users_are_hurt_where_the_key_says_so_and_nowhere_else(place, case):
    for path in sorted({path.partition("?")[0] for path in case.site.paths}):
        asked = [each for each in case.site.paths if each.partition("?")[0] == path]
        expected = case.key[f"{ENTRY}/GET {path}"] is AFFECTED
        for _ in range(ROUNDS):  # a busy machine is slow, too, and chance may spare everybody
            place.users.order(UsersOrder(place.mesh.entry_url, asked, 80, case.fault, ENVIRONMENT))
            time.sleep(0.6)  # of users' lives: nothing is waited for
            tally = place.users.rest()
            hurt = len(tally.failed) > 1 or tally.milliseconds["p75"] > SLOW_MILLISECONDS
            if hurt == expected:
                break
        assert hurt == expected, (case.fault, path, tally)
