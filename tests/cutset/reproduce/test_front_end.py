"""The protocol, by a language that is not Python."""

from pathlib import Path

from tests.samples.toy_language import ToyFrontEnd, toy_case, toy_search

from cutset.model.reproduction.event import ReproductionFinished
from cutset.model.reproduction.result import CausalKind
from cutset.reproduce.front_end import AnalysedProgram, FrontEnd


def test_a_search_needs_nothing_of_a_language_but_the_protocol(tmp_path: Path) -> None:
    front_end: FrontEnd = ToyFrontEnd()
    program: AnalysedProgram = front_end.read_program(toy_case(tmp_path))
    assert [str(site) for site in program.sites] == ["toy::main::fetch", "toy::main::store", "toy::main::check"]

    (*_, last) = toy_search(toy_case(tmp_path), tmp_path)

    assert isinstance(last, ReproductionFinished)
    best = last.result.best
    assert best is not None
    (fault,) = best.faults
    assert (fault.site.expression, fault.occurrence, fault.effect) == ("store", 3, "fail()")
    assert fault.failure_line == 8
    assert (best.repeated, best.repeats, best.unlike) == (2, 2, 0)
    assert [step.kind for step in best.messages[1].chain] == [
        CausalKind.EXTERNAL,
        CausalKind.HANDLER,
        CausalKind.LOCATION,
    ]
