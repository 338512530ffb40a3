from pathlib import Path

from tests.samples.reproduction import fault, reproduction, result

from cutset.model.reproduction.event import ReproductionFinished
from cutset.store.codec import event_from_json, event_to_json


def test_a_result_comes_back_from_the_ledger_as_it_was():
    whole = result(reproduction(Path("round-0007"), fault()), reproduction(Path("round-0009"), fault(occurrence=9)))
    for found in (whole, result(None)):
        assert event_from_json(*event_to_json(ReproductionFinished(found))) == ReproductionFinished(found)
