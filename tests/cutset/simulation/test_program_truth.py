from tests.samples.programs import faults, minimal

from cutset.model.outcome import Verdict
from cutset.simulation.program_laboratory import Bother, ProgramLaboratory
from cutset.simulation.program_truth import Does, minimal_sets
from cutset.simulation.programs import (
    CallSite,
    Instead,
    InTurn,
    RequestProgram,
    Tolerate,
)


def test_what_an_optional_call_adds_is_missing_without_it() -> None:
    program = InTurn((CallSite("ads", Tolerate(), adds="ads"), CallSite("log", Tolerate())))

    assert minimal(program) == set()
    assert minimal(program, Does.DEGRADE) == {faults("ads")}
    laboratory = ProgramLaboratory(RequestProgram(program))
    assert laboratory.run(faults("ads")).verdict is Verdict.DEGRADED
    assert laboratory.run(faults("log")).verdict is Verdict.SURVIVED


def test_a_fallback_that_answers_otherwise_degrades() -> None:
    assert minimal(CallSite("price", Instead(CallSite("list", adds="list")), adds="price"), Does.DEGRADE) == {
        faults("price")
    }


def test_what_a_cache_may_hide_counts_as_failing() -> None:
    request = RequestProgram(CallSite("a", cache=0), caches=1)

    assert minimal_sets(request, 1)[Does.FAIL] == {faults("a")}
    assert ProgramLaboratory(request, Bother(tries=40)).run(faults("a")).verdict is Verdict.FAILED
