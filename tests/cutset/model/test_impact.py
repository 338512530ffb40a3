import pytest

from cutset.model.impact import ApiImpact, ApiSample, ApiVerdict, Impact, ImpactStarted, TrafficSource
from cutset.model.point import Point

STARTED = ImpactStarted(cut=frozenset(), traffic=TrafficSource.LIVE, shares=(0.05,), seconds={})
AFFECTED, RESILIENT, UNTOLD = ApiVerdict.AFFECTED, ApiVerdict.RESILIENT, ApiVerdict.CANNOT_TELL


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        ([], UNTOLD),
        ([RESILIENT], RESILIENT),
        ([RESILIENT, UNTOLD], UNTOLD),
        ([RESILIENT, UNTOLD, AFFECTED], AFFECTED),
    ],
)
def test_the_verdict_is_the_worst_of_all_apis_and_nobody_can_tell_of_none(verdicts, worst):
    apis = [ApiImpact(Point("web", "GET /"), each, "", ApiSample(), ApiSample(), ApiSample()) for each in verdicts]
    assert Impact("r", STARTED, tuple(apis)).verdict is worst


def test_what_was_not_asked_did_not_fail():
    assert ApiSample().success_rate == 1
    assert ApiSample(requests=4, failed=1).success_rate == 0.75
