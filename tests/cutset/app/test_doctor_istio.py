"""What can be told without a cluster; the rest is in tests/istio."""

from cutset.app.doctor_istio import _ahead


def test_a_clock_that_is_told_to_the_second_is_only_wrong_beyond_that() -> None:
    assert _ahead(100.0, 100.9, 101.0) == 0
    assert _ahead(110.0, 100.0, 101.0) == 9
    assert _ahead(90.0, 100.0, 101.0) == -9
