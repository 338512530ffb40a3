from dataclasses import replace

import pytest
from tests.samples.small_shop import points

from cutset.model.fault import cut_of
from cutset.model.outcome import Outcome, Verdict
from cutset.model.point import Point


@pytest.mark.parametrize(
    ("verdict", "failures", "is_share"),
    [(Verdict.FAILED, 2, True), (Verdict.FAILED, 3, False), (Verdict.SURVIVED, 1, False), (Verdict.UNKNOWN, 1, False)],
)
def test_only_what_failed_some_of_its_trials_fails_a_share_of_requests(
    verdict: Verdict, failures: int, is_share: bool
) -> None:
    outcome = Outcome(cut_of([Point("cart", "Get")]), verdict, trials=3, failures=failures)

    assert outcome.is_share is is_share


@pytest.mark.parametrize(
    ("fired", "retried", "varies"),
    [
        (["cart/Get#1"], [], False),  # merely balanced: those that this replica serves fail
        (["cart/Get#1"], ["cart/Get#1", "cart/Get#2"], True),  # nobody needed it, and still some failed
        (["cart/Get#1", "ad/Get#1"], ["cart/Get#1", "cart/Get#2"], False),  # or those that ad/Get#1 serves
    ],
)
def test_that_some_requests_fail_with_a_replica_tells_of_variation_where_another_one_takes_over(
    fired: list[str], retried: list[str], varies: bool
) -> None:
    faulted = points(*fired)
    outcome = Outcome(cut_of(faulted), Verdict.FAILED, fired=faulted, retried=points(*retried), trials=10, failures=4)

    assert bool(outcome.variation) is varies
    assert not replace(outcome, failures=10).variation
