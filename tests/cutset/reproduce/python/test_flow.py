"""Where control is when something can raise: conditions, handlers, and what had to be got past."""

from pathlib import Path

import pytest
from tests.samples.small_programs import read_app

from cutset.reproduce.python.syntax import EventKind, GuardKind, Place, PythonProgram


def place_of(program: PythonProgram, expression: str) -> Place:
    (event,) = [one for one in program.events if one.expression == expression]
    return program.places[event.place]


def guards_of(program: PythonProgram, expression: str) -> tuple[str, list[str]]:
    """The innermost guard around a call, and the conditions that it got past."""
    place = place_of(program, expression)
    return (
        program.guards[place.guard].text if place.guard >= 0 else "",
        [program.guards[guard].text for guard in place.passed],
    )


def in_function(body: str) -> str:
    return "def f(a, b, c):\n" + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.parametrize(
    ("body", "guard", "passed"),
    [
        ("a.go()", "", []),
        ("if b:\n    a.go()", "b", []),
        ("if b:\n    pass\nelse:\n    a.go()", "b", []),
        ("if b:\n    return\na.go()", "", ["b"]),
        ("if b:\n    c()\na.go()", "", []),
        ("if b:\n    return\nif c:\n    return\na.go()", "", ["b", "c"]),
        ("if b:\n    if c:\n        return\n    a.go()", "b", ["c"]),
        ("while b:\n    a.go()", "b", []),
        ("while b:\n    c()\na.go()", "", ["b"]),
        ("while True:\n    if b:\n        break\na.go()", "", ["b"]),
        ("for x in b:\n    a.go()", "for x in b", []),
        ("for x in b:\n    if c:\n        break\na.go()", "", ["c"]),
        ("assert b\na.go()", "", ["b"]),
        ("match b:\n    case 1:\n        a.go()", "case 1", []),
        ("match b:\n    case x if c:\n        a.go()", "case x", ["c"]),
        ("x = a.go() if b else 1", "b", []),
        ("x = b and a.go()", "b", []),
        ("x = [a.go() for y in c if b]", "b", []),
        ("try:\n    b()\nexcept OSError:\n    a.go()", "except OSError", []),
        ("try:\n    b()\nfinally:\n    a.go()", "", ["finally"]),
    ],
)
def test_what_decides_whether_control_gets_to_a_call(tmp_path: Path, body: str, guard: str, passed: list[str]):
    assert guards_of(read_app(tmp_path, in_function(body)), "a.go") == (guard, passed)


def test_what_is_raised_in_a_try_is_caught_by_it_but_not_in_its_handlers(tmp_path: Path):
    inside = "    try:\n        a.two()\n    except KeyError:\n        a.three()"
    program = read_app(tmp_path, in_function(f"try:\n    a.one()\n{inside}\nexcept OSError:\n    a.four()"))
    outer, inner = (place_of(program, f"a.{name}").caught_by for name in ("one", "two"))
    assert program.tries[inner].outer == outer
    assert program.tries[outer].outer == -1
    assert place_of(program, "a.three").caught_by == outer
    assert place_of(program, "a.four").caught_by == -1
    assert program.guards[place_of(program, "a.four").handler].types == ("OSError",)


def test_the_else_of_a_try_is_outside_it(tmp_path: Path):
    program = read_app(tmp_path, in_function("try:\n    b()\nexcept OSError:\n    c()\nelse:\n    a.go()"))
    assert place_of(program, "a.go").caught_by == -1


def test_a_with_is_a_try_that_may_catch(tmp_path: Path):
    program = read_app(
        tmp_path, "from contextlib import suppress\n" + in_function("with suppress(OSError):\n    a.go()")
    )
    attempt = program.tries[place_of(program, "a.go").caught_by]
    assert attempt.suppressed == ("OSError",)
    (entered,) = [event for event in program.events if event.kind is EventKind.WITH]
    assert program.tries[entered.body] == attempt


def test_a_handler_has_its_types_and_its_name(tmp_path: Path):
    program = read_app(
        tmp_path, in_function("try:\n    a()\nexcept (OSError, ValueError) as error:\n    b()\nexcept:\n    c()")
    )
    handlers = [guard for guard in program.guards if guard.kind is GuardKind.HANDLER]
    assert [(guard.types, guard.binds) for guard in handlers] == [
        (("OSError", "ValueError"), "error"),
        (("BaseException",), ""),
    ]


def test_what_a_condition_reads_and_calls_is_known(tmp_path: Path):
    program = read_app(tmp_path, in_function("if c.check(b.ready):\n    a.go()"))
    (guard,) = [guard for guard in program.guards if guard.kind is GuardKind.CONDITION]
    assert {("b", "ready"), ("c",)} <= set(guard.reads)
    assert [program.events[event].expression for event in guard.values] == ["c.check"]
