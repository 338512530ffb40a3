from hypothesis import given
from tests.samples.jvm_programs import IO, Attempt, Invoke, Rethrow, Throw, Type, program_of
from tests.samples.jvm_simulation import below, leaving, programs

from cutset.reproduce.jvm.code_index import index_code

_UNCHECKED = {"java.lang.RuntimeException", "java.lang.Error"}


def _leaving(types, method):
    program = program_of(types)
    number = [f"{each.module}.{each.name}" for each in program.functions].index(method)
    return {program.type_name(kind) for kind in index_code(program).escapes.leaving[number]}


@given(programs())
def test_what_leaves_a_method_is_what_simulation_shows(types):
    for name in types["A"].methods:
        found, shown = _leaving(types, f"A.{name}"), leaving(types, f"A.{name}")
        assert found <= shown
        assert shown <= {each for kind in found for each in below(kind)}


def test_recursion_comes_to_an_end():
    body = [Attempt([Invoke("A.g"), Invoke("net.Socket.read", [IO])], [("java.lang.RuntimeException", [])])]
    types = {"A": Type({"f": body, "g": [Invoke("A.f"), Throw("java.lang.InterruptedException")]})}
    assert _leaving(types, "A.f") == {IO, "java.lang.InterruptedException", "java.lang.Error"}
    assert _leaving(types, "A.g") == _leaving(types, "A.f")


def test_a_finally_lets_everything_pass():
    body = [Attempt([Invoke("net.Socket.read", [IO])], [("", [Rethrow()])])]
    assert _leaving({"A": Type({"f": body})}, "A.f") == {IO, *_UNCHECKED}


def test_one_that_returns_keeps_everything():
    assert _leaving({"A": Type({"f": [Attempt([Invoke("net.Socket.read", [IO])], [("", [])])]})}, "A.f") == set()


def test_a_handler_for_what_is_below_may_catch_and_may_not():
    missing = "java.io.FileNotFoundException"
    body = [Attempt([Invoke("net.Socket.read", [IO])], [(missing, [Throw("java.lang.InterruptedException")])])]
    assert _leaving({"A": Type({"f": body})}, "A.f") == {IO, "java.lang.InterruptedException", *_UNCHECKED}


def test_what_code_outside_runs_at_once_throws_through_it():
    body = [
        Invoke(
            "java.util.List.forEach", handed=[(0, 0, "A.lambda$f$0 ()V")], descriptor="(Ljava/util/function/Consumer;)V"
        )
    ]
    types = {"A": Type({"f": body, "lambda$f$0": [Throw(IO)]})}
    assert IO in _leaving(types, "A.f")
