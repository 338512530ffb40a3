import pytest
from tests.samples.simulated_hardening import FINDINGS

from cutset.model.hardening import CutRechecked
from cutset.model.outcome import Outcome, Verdict


@pytest.mark.parametrize("verdict", Verdict)
def test_a_cut_that_nobody_can_tell_of_counts_as_there_and_keeps_its_id(verdict: Verdict) -> None:
    known = FINDINGS[0]
    outcome = Outcome(known.cut, verdict, "whatever came of it")
    event = CutRechecked(request=known.request, outcome=outcome, expected_gone=True)
    assert event.remains == (verdict in (Verdict.FAILED, Verdict.UNKNOWN))
    assert event.finding.id == known.id
