"""Each remedy is advised on its evidence, and declined with a reason without it."""

import pytest
from tests.samples.call_sites import READS

from cutset.harden.remedies.evidence import SiteEvidence
from cutset.harden.remedies.registry import REMEDIES, advise, explanations
from cutset.model.point import Point


def test_with_all_the_evidence_everything_but_what_would_not_pay_is_advised() -> None:
    advice, declined = advise(READS)
    assert [each.remedy for each in advice] == ["fallback", "timeout", "retry", "circuit-breaker", "bulkhead"]
    assert [each.remedy for each in declined] == ["hedging"]
    assert [each.remedy for each in advice if each.survives_outage] == ["fallback"]


def test_without_evidence_nothing_is_made_up() -> None:
    advice, declined = advise(SiteEvidence(Point("payment", "Charge")))
    assert [each.remedy for each in advice] == ["fallback", "circuit-breaker"]
    assert all(each.why for each in declined)


@pytest.mark.parametrize("name", REMEDIES)
def test_each_explains_itself_with_an_example_and_risks(name: str) -> None:
    text = explanations()[name]
    assert all(part in text for part in ("Advised when: ", "Example:\n\nservices:", "Risks:\n- "))
