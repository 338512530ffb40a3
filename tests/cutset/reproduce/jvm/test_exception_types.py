from tests.samples.jvm_programs import IO, Type, program_of

from cutset.reproduce.jvm.exception_types import ExceptionTypes

TYPES = ExceptionTypes(program_of({"a.Lost": Type({}, parent="java.net.SocketException")}))


def test_types_are_known_by_the_class_path_and_beyond_it():
    assert TYPES.is_a("a.Lost", IO)
    assert TYPES.is_a("java.net.SocketTimeoutException", IO)  # nobody mentions it
    assert not TYPES.is_a(IO, "a.Lost")
    assert not TYPES.is_any("b.Unknown", [IO])


def test_unchecked_exceptions_are_told_from_those_that_are_declared():
    assert TYPES.is_unchecked("java.lang.IllegalStateException")
    assert not TYPES.is_unchecked(IO)


def test_an_exception_is_written_with_its_message_as_json():
    assert TYPES.make(IO, 'a "b"\n') == 'java.io.IOException("a \\"b\\"\\n")'
    assert TYPES.make(IO, "") == "java.io.IOException()"
