"""All cases are in `make bench-truth`; what each line says is in `tests/cutset/experiment/test_preflight.py`."""

import pytest
from benchmarks.truth.doctor import CASES, diagnosis, is_named

NAMES = ["another environment, and no file of the mesh", "the plan is not handed on", "another mesh file"]


@pytest.mark.parametrize("case", [case for case in CASES if case.name in NAMES], ids=lambda case: case.name)
def test_what_is_wrong_is_named(case):
    assert is_named(case)


def test_where_nothing_is_wrong_all_is_well():
    assert diagnosis(lambda _: None).wrong == ()


def test_no_case_is_there_twice():
    assert len({case.name for case in CASES}) == len(CASES) >= 20
