import pytest

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
