from tests.samples.drill import TEST

from cutset.drill.settings import DrillSettings, ServiceUnderTest
from cutset.model.drill import DEFAULT_THRESHOLDS, Thresholds


def test_a_request_class_may_have_thresholds_of_its_own() -> None:
    patient = Thresholds(limit_seconds=60.0)

    assert DrillSettings(ServiceUnderTest(("serve",)), classes={TEST.flow: patient}).thresholds_of(TEST) == patient
    assert DrillSettings(ServiceUnderTest(("serve",))).thresholds_of(TEST) == DEFAULT_THRESHOLDS
