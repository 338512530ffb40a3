from dataclasses import replace
from pathlib import Path

import pytest
from tests.samples.reproduction import fault, reproduction, result

from cutset.model.reproduction.event import ReproductionFinished
from cutset.model.reproduction.result import Grade, LogAgreement
from cutset.store.codec import event_from_json, event_to_json


def test_a_result_comes_back_from_the_ledger_as_it_was():
    whole = result(reproduction(Path("round-0007"), fault()), reproduction(Path("round-0009"), fault(occurrence=9)))
    for found in (whole, result(None)):
        assert event_from_json(*event_to_json(ReproductionFinished(found))) == ReproductionFinished(found)


@pytest.mark.parametrize(
    ("unlike", "values", "moments_left", "repeated", "grade"),
    [
        (0, 0, False, 2, Grade.LOG),
        (0, 3, True, 1, Grade.MESSAGES),
        (0, 3, False, 2, Grade.SYMPTOM),  # it was not at another moment, so it was something else
        (1, 0, True, 2, Grade.SYMPTOM),
        (0, 0, True, 0, Grade.NOTHING),
    ],
)
def test_messages_tell_what_failed_and_values_when(
    *, unlike: int, values: int, moments_left: bool, repeated: int, grade: Grade
) -> None:
    found = replace(
        reproduction(Path("round-0007")),
        repeats=2,
        repeated=repeated,
        unlike=unlike,
        agreement=LogAgreement(values=values),
        moments_left=moments_left,
    )
    assert found.grade is grade
