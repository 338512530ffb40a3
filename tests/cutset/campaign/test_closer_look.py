import pytest
from tests.samples.small_shop import cut, points

from cutset.campaign.closer_look import SMALLEST, closer_look
from cutset.campaign.settings import Limits
from cutset.judge.sequential import Repetition, overlooked_share, trials_to_see
from cutset.judge.shares import share
from cutset.model.event import ExperimentFinished
from cutset.model.fault import Cut
from cutset.model.outcome import Outcome, Verdict

LIMITS = Limits()
ADS, CART, BOTH = (
    cut("ad/Get#1:abort(503)"),
    cut("cart/Get#1:abort(503)"),
    cut("ad/Get#1:abort(503)", "cart/Get#1:abort(503)"),
)


def tried(
    of: Cut, verdict: Verdict, trials: int = 10, failures: int = 0, failed: tuple[str, ...] = ()
) -> ExperimentFinished:
    outcome = Outcome(of, verdict, trials=trials, failures=failures, failed=points(*failed))
    return ExperimentFinished(request="GET /", outcome=outcome)


def part(*experiments: ExperimentFinished, looked_at: frozenset[Cut] = frozenset(), max_size: int = 2) -> Cut | None:
    found = closer_look(experiments, LIMITS, max_size, looked_at)
    return found[0] if found else None


WHOLE = tried(BOTH, Verdict.FAILED, 10, 5, failed=("cart/Get#1",))


def test_parts_are_looked_at_in_turn_first_without_what_was_not_seen_to_fail() -> None:
    overlooked = tried(CART, Verdict.SURVIVED)

    assert part(WHOLE, overlooked) == CART
    assert part(WHOLE, overlooked, looked_at=frozenset({CART})) == ADS
    assert part(WHOLE, overlooked, looked_at=frozenset({CART, ADS})) is None


@pytest.mark.parametrize(
    ("verdict", "trials", "left"),
    [
        (Verdict.SURVIVED, 13, ADS),  # as many as it takes
        (Verdict.SURVIVED, 11, CART),
        (Verdict.UNKNOWN, 0, ADS),  # nobody can tell
        (Verdict.FAILED, 10, None),  # that is the finding then
    ],
)
def test_what_was_looked_at_needs_no_closer_look_also_in_a_campaign_that_is_resumed(
    verdict: Verdict, trials: int, left: Cut | None
) -> None:
    assert part(WHOLE, tried(CART, verdict, trials, trials)) == left


def test_only_findings_that_fail_a_share_have_parts_that_may_have_been_overlooked() -> None:
    assert part() is None
    assert part(tried(BOTH, Verdict.FAILED, 10, 10)) is None
    assert part(tried(BOTH, Verdict.SURVIVED, 10, 1)) is None
    assert part(tried(CART, Verdict.FAILED, 10, 5)) is None
    assert part(WHOLE, max_size=1) is None  # injected to learn of paths


@pytest.mark.parametrize(("failures", "trials"), [(5, 10), (4, 15), (8, 200)])
def test_a_part_is_looked_at_as_closely_as_it_takes_to_see_the_same_share(failures: int, trials: int) -> None:
    found = closer_look([tried(BOTH, Verdict.FAILED, trials, failures)], LIMITS, 2, ())

    assert found is not None
    assert found[1] == max(SMALLEST, share(failures, trials).low)
    rule = Repetition(LIMITS.failures_needed, LIMITS.flake_rate, LIMITS.trials)
    assert overlooked_share(LIMITS.flake_rate, trials_to_see(found[1], rule)) <= found[1]
