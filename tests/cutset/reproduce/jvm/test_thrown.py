from tests.samples.jvm_programs import IO, Attempt, Invoke, Rethrow, Throw, Type, program_of

from cutset.model.reproduction.result import CausalKind
from cutset.reproduce.jvm.code_index import index_code
from cutset.reproduce.jvm.thrown import WHATEVER, thrown, way_out

_MISSING, _SOCKET = "java.io.FileNotFoundException", "java.net.SocketException"


def _thrown(body, instruction, *wanted):
    """Kinds of nodes and what is wanted of them, out of the method `f`."""
    program = program_of({"A": Type({"f": body, "g": [Throw(IO)]})})
    code = index_code(program)
    number = code.wanting([program.numbers[kind] for kind in wanted]) if wanted else WHATEVER
    found = thrown(code, 0, instruction, number, way_out(code, 0, instruction))
    return [(key.kind, {program.type_name(kind) for kind in code.types[key.wanted]}) for key in found]


def test_what_is_thrown_outside_is_narrowed_to_what_is_wanted():
    body = [Invoke("net.Socket.read", [IO])]
    assert _thrown(body, 0, _SOCKET) == [(CausalKind.EXTERNAL, {_SOCKET})]
    assert _thrown(body, 0, "java.lang.Exception") == [(CausalKind.EXTERNAL, {IO, "java.lang.RuntimeException"})]
    assert _thrown(body, 0, "java.lang.InterruptedException") == []


def test_what_a_handler_keeps_does_not_get_out():
    body = [Attempt([Invoke("net.Socket.read", [IO])], [(_MISSING, [])])]
    assert _thrown(body, 0, IO) == [(CausalKind.EXTERNAL, {IO})]
    assert _thrown(body, 0, _MISSING) == []
    assert _thrown(body, 0) == [(CausalKind.EXTERNAL, set())]  # whatever it is, caught or not


def test_an_analysed_method_passes_on_and_a_throw_is_new():
    assert _thrown([Invoke("A.g", opcode=184)], 0, IO) == [(CausalKind.INTERNAL, {IO})]
    assert _thrown([Throw(IO)], 0, IO) == [(CausalKind.NEW, set())]


def test_what_a_handler_throws_on_or_wraps_comes_from_elsewhere():
    passes = [Attempt([Invoke("net.Socket.read", [IO])], [("", [Rethrow()])])]
    assert _thrown(passes, 1, IO) == [(CausalKind.INTERNAL, {IO})]
    wraps = [Attempt([Invoke("net.Socket.read", [IO])], [("", [Throw(IO)])])]
    assert _thrown(wraps, 1, IO) == [(CausalKind.INTERNAL, set()), (CausalKind.NEW, set())]
