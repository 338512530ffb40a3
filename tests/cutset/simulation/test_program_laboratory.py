from tests.samples.programs import faults

from cutset.model.outcome import Verdict
from cutset.simulation.program_laboratory import Bother, ProgramLaboratory
from cutset.simulation.programs import (
    CallSite,
    Fail,
    Instead,
    InTurn,
    RequestProgram,
    Tolerate,
)

# A balancer that turns to the second server when the first answers 500, and not when it cannot be reached.
BALANCER = CallSite("first", Fail("502"), {"500": Instead(CallSite("second"))}, body=CallSite("database", Fail("500")))


def test_flaky_answers_are_not_believed() -> None:
    laboratory = ProgramLaboratory(RequestProgram(CallSite("a", Tolerate())), Bother(flakes=0.3, repeats=20))

    assert {laboratory.run(faults("a")).verdict for _ in range(50)} == {Verdict.SURVIVED}


def test_without_a_whole_trace_nothing_has_survived() -> None:
    laboratory = ProgramLaboratory(RequestProgram(CallSite("a", Tolerate())), Bother(lost_spans=1.0))

    assert laboratory.run(faults("a")).verdict is Verdict.UNKNOWN


def test_of_a_failure_spans_may_be_missing_but_not_those_that_prove_it() -> None:
    request = RequestProgram(InTurn((CallSite("a"), CallSite("b", Tolerate()), CallSite("c"))))
    laboratory = ProgramLaboratory(request, Bother(lost_spans=1.0))

    outcomes = [laboratory.run(faults("b", "c")) for _ in range(20)]

    assert {outcome.verdict for outcome in outcomes} == {Verdict.FAILED}
    assert all(outcome.fired and outcome.fired <= outcome.calls for outcome in outcomes)
    assert len({outcome.calls for outcome in outcomes}) > 1


def test_a_cut_that_is_not_called_is_not_survived() -> None:
    laboratory = ProgramLaboratory(RequestProgram(BALANCER))

    assert laboratory.run(faults("second")).verdict is Verdict.UNKNOWN
