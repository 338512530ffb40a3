from pathlib import Path

from tests.samples.reproduction import fault

from cutset.model.reproduction.event import OracleAnswer, RoundFinished, RoundStage


def finished(answer: OracleAnswer, *faults):
    fired = faults[-1] if faults else None
    return RoundFinished(1, RoundStage.SINGLE, fired, answer, "", (), 1.0, Path("round"), fired_ground=faults[:-1])


def test_a_round_reproduces_the_failure_if_the_oracle_holds_and_something_fired():
    assert finished(OracleAnswer.YES, fault()).reproduces
    assert not finished(OracleAnswer.YES).reproduces
    assert not finished(OracleAnswer.NO, fault()).reproduces
    assert not finished(OracleAnswer.CANNOT_TELL, fault()).reproduces


def test_the_faults_of_a_round_are_its_ground_and_the_one_on_top():
    first, second = fault(occurrence=1), fault(occurrence=2)
    assert finished(OracleAnswer.NO, first, second).faults == (first, second)
    assert finished(OracleAnswer.NO).faults == ()
