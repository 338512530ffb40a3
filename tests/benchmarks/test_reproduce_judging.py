"""Whether a fault is called the true cause, and a grade right."""

import sys
from functools import partial

import pytest
from benchmarks.reproduce.cases import same_class
from benchmarks.reproduce.judging import grading, is_truth
from benchmarks.reproduce.known import GroundTruth

from cutset.model.reproduction.site import FiredFault, Site, SiteKind

TRUTH = GroundTruth(frozenset({"shop::keep::os.replace"}), frozenset({"ConnectionResetError(104, 'reset')"}))
HERE = partial(same_class, sys.executable)


def fault(expression: str, effect: str) -> FiredFault:
    site = Site("shop", "keep", expression, 0, SiteKind.CALL, "shop.py", 1, 0, 1, 1)
    return FiredFault(site, 0, 3, effect, "", 0, 0, "MainThread", ())


def test_the_true_cause_has_the_site_and_an_exception_of_the_class() -> None:
    assert is_truth(fault("os.replace", "OSError(104, 'Connection reset by peer')"), TRUTH, HERE)
    assert not is_truth(fault("os.rename", "ConnectionResetError(104, 'reset')"), TRUTH, HERE)
    assert not is_truth(fault("os.replace", "OSError(28, 'No space left on device')"), TRUTH, HERE)
    assert not is_truth(fault("os.replace", "hang()"), TRUTH, HERE)


@pytest.mark.parametrize(
    ("effect", "exception", "same"),
    [
        ("socket.timeout('timed out')", "TimeoutError()", True),
        ("json.JSONDecodeError('x', 'y', 0)", "json.decoder.JSONDecodeError('', '', 1)", True),
        ("concurrent.futures.CancelledError()", "asyncio.CancelledError()", False),
        ("no.such.Error()", "OSError(5, 'x')", False),
        ("return(None)", "return(None)", True),
    ],
)
def test_classes_are_compared_by_the_interpreter_of_the_case(effect: str, exception: str, *, same: bool) -> None:
    assert HERE(effect, exception) is same


@pytest.mark.parametrize(
    ("grade", "true_cause", "among_equals", "right"),
    [
        ("LOG", True, True, True),
        ("LOG", False, True, True),
        ("LOG", False, False, False),
        ("MESSAGES", True, True, True),
        ("MESSAGES", False, False, False),
        ("SYMPTOM", False, False, True),
        ("SYMPTOM", False, True, True),
        ("SYMPTOM", True, True, False),
        ("NOTHING", False, False, True),
        ("NOTHING", True, True, False),
    ],
)
def test_a_grade_is_right_if_it_claims_the_true_cause_and_nothing_else(
    grade: str, *, true_cause: bool, among_equals: bool, right: bool
) -> None:
    found = {"grade": grade, "site": "shop", "true_cause": true_cause, "true_among_equals": among_equals}
    assert grading(found)["graded_right"] is right


def test_where_nothing_was_found_there_is_no_grade_to_be_right() -> None:
    assert grading({"grade": "NOTHING"}) == {"claimed": False, "claimed_right": False, "graded_right": None}
