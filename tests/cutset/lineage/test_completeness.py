import pytest
from trace_builder import ROOT, Made, trace

from cutset.lineage.completeness import instrumented_services, is_closed

SPANS = trace(Made("a/A", [Made("b/B", failed_attempts=1)]), Made("ad/GetAds", status=14, flags="FI"))
ALL = frozenset({"frontend", "a", "b"})


def test_a_whole_trace_is_closed() -> None:
    assert is_closed(SPANS, ROOT, ALL)


@pytest.mark.parametrize("missing", range(len(SPANS)))
def test_a_trace_without_any_one_of_its_spans_is_open(missing: int) -> None:
    assert not is_closed(SPANS[:missing] + SPANS[missing + 1 :], ROOT, ALL)


def test_services_that_export_nothing_are_not_waited_for() -> None:
    silent = [span for span in trace(Made("a/A"), Made("b/B")) if span.service != "b"]

    assert instrumented_services(silent) == {"frontend", "a"}
    assert is_closed(silent, ROOT, {"frontend", "a"})
    assert not is_closed(silent, ROOT, ALL)


def test_instrumented_services_are_those_whose_application_spans_arrived() -> None:
    assert instrumented_services(SPANS) == ALL
