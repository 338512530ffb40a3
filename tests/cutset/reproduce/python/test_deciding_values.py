import pytest
from tests.samples.small_programs import read_app

from cutset.reproduce.python.deciding_values import deciding_values, wrong_values

RECEIVER = """
import os, socket

class Receiver:
    def head(self, sock):
        data = sock.recv(4)
        if not data:
            raise ConnectionError("closed")
        return data

    def length(self, sock):
        data = sock.read(4)
        size = len(data)
        if size < 4:
            raise EOFError("short")

    def row(self, cursor):
        row = cursor.fetchone()
        if row is None:
            raise LookupError("no row")

    def looks(self, path):
        if not os.path.exists(path):
            raise FileNotFoundError(path)
        return os.path.exists(path + "x")

    def sends(self, sock, data):
        if sock.send(data) < 0:
            return

    def takes(self, listener):
        peer, address = listener.accept()
        if address is None:
            return

    def falls(self, sock):
        found = sock.recv(1)
        if found:
            return found
        raise TimeoutError("nothing")

    def asks(self, session):
        answer = session.post("/x")
        if answer.status != 200:
            raise RuntimeError("no")

    def finds(self, options):
        if options.get("x") is None:
            raise KeyError("x")

    def checks(self, order):
        if not order:
            raise ValueError("no order")
"""


@pytest.fixture
def program(tmp_path):
    return read_app(tmp_path, RECEIVER)


def event_of(program, expression, function=""):
    return next(
        index
        for index, event in enumerate(program.events)
        if event.expression == expression and program.functions[event.function].name.endswith(function)
    )


def values_of(program, expression, function=""):
    event = event_of(program, expression, function)
    conditions = deciding_values(program).conditions.get(event, ())
    return [(value.text, value.tested) for value in wrong_values(program, event, conditions)]


@pytest.mark.parametrize(
    ("raised", "call"),
    [
        ("raise ConnectionError", "sock.recv"),
        ("raise EOFError", "sock.read"),
        ("raise LookupError", "cursor.fetchone"),
        ("raise FileNotFoundError", "os.path.exists"),
        ("raise TimeoutError", "sock.recv"),
    ],
)
def test_a_raise_follows_from_the_call_whose_value_decides(program, raised, call):
    reasons = deciding_values(program).reasons[event_of(program, raised)]
    assert [program.events[index].expression for index in reasons] == [call]


def test_a_raise_by_what_was_passed_in_or_looked_up_follows_from_nothing_outside(program):
    for raised in ("raise ValueError", "raise KeyError"):
        assert deciding_values(program).reasons[event_of(program, raised)] == ()


def test_a_raise_by_what_no_plain_value_can_be_is_brought_about_by_none(program):
    found = deciding_values(program)
    raised = event_of(program, "raise RuntimeError")
    assert found.reasons[raised] == (event_of(program, "session.post"),)
    assert found.brought_about[raised] == ()
    raised = event_of(program, "raise ConnectionError")
    assert found.brought_about[raised] == found.reasons[raised]


@pytest.mark.parametrize(
    ("call", "function", "values"),
    [
        ("sock.recv", "head", [("return(b'')", True)]),
        ("sock.read", "length", [("return(b'')", False)]),  # of its length, not of the value
        ("cursor.fetchone", "", [("return(None)", True)]),
        ("os.path.exists", "looks", [("return(False)", True)]),
        ("sock.send", "", [("return(0)", True), ("return(-1)", True)]),
        ("listener.accept", "", []),  # a part of it is tested
    ],
)
def test_wrong_values_are_those_of_the_callee_and_those_that_are_tested(program, call, function, values):
    assert values_of(program, call, function) == values
