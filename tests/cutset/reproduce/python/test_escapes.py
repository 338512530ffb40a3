"""Which exceptions leave functions, and what stops them."""

from pathlib import Path

import pytest
from tests.samples.small_programs import read_app

from cutset.reproduce.python.escapes import (
    ANY,
    ANY_BASE,
    ORDINARY,
    UNNAMED,
    Hierarchy,
    analyse,
    events_under,
    handled_types,
    handlers_around,
    narrowed,
    stopped,
)
from cutset.reproduce.python.syntax import GuardKind

HIERARCHY = Hierarchy({"app.Lost": ("app.Base", "OSError"), "app.Base": ("Exception",)}, frozenset({"app.Lost"}))


@pytest.mark.parametrize(
    ("raised", "caught", "surely", "may"),
    [
        ("OSError", "OSError", True, True),
        ("ConnectionResetError", "OSError", True, True),
        ("OSError", "ConnectionResetError", False, False),
        ("socket.timeout", "TimeoutError", True, True),
        ("IOError", "OSError", True, True),
        ("socket.gaierror", "OSError", True, True),
        ("asyncio.CancelledError", "Exception", False, False),
        ("app.Lost", "app.Base", True, True),
        ("app.Lost", "OSError", True, True),
        ("app.Lost", "KeyError", False, False),
        ("db.Error", "OSError", False, True),  # of a class from outside nothing is known
        ("db.Error", "Exception", True, True),
        (ANY, "OSError", False, True),
        (ANY, "app.Lost", False, False),
        (ANY, "BaseException", True, True),
        (ORDINARY, "Exception", True, True),
        (ORDINARY, "KeyboardInterrupt", False, False),
        (ANY_BASE, "Exception", False, False),
        (ANY_BASE, "SystemExit", False, True),
        (UNNAMED, "app.Lost", False, True),
    ],
)
def test_a_handler_stops_what_it_surely_catches_and_is_reached_by_what_it_may(
    raised: str, caught: str, surely: bool, may: bool
):
    assert (HIERARCHY.surely(raised, caught), HIERARCHY.may(raised, caught)) == (surely, may)


def leaving(tmp_path: Path, text: str) -> dict[str, set[str]]:
    program = read_app(tmp_path, text)
    return {
        function.name: set(analyse(program).leaving[number])
        for number, function in enumerate(program.functions)
        if function.name != "<module>"
    }


def test_what_a_function_raises_leaves_it_and_its_callers_unless_it_is_caught(tmp_path: Path):
    found = leaving(
        tmp_path,
        """
        def low():
            raise KeyError("x")
        def middle():
            low()
        def careful():
            try:
                middle()
            except LookupError:
                pass
        def wrong():
            try:
                middle()
            except OSError:
                pass
        """,
    )
    assert found == {"low": {"KeyError"}, "middle": {"KeyError"}, "careful": set(), "wrong": {"KeyError"}}


def test_what_comes_from_outside_is_anything_until_a_handler_stops_it(tmp_path: Path):
    found = leaving(
        tmp_path,
        """
        def f(sock):
            sock.recv()
        def g(sock):
            try:
                sock.recv()
            except Exception:
                pass
        def h(sock):
            try:
                sock.recv()
            except BaseException:
                pass
        """,
    )
    assert found == {"f": {ANY}, "g": {ANY_BASE}, "h": set()}


def test_what_is_passed_on_is_what_the_handler_caught(tmp_path: Path):
    found = leaving(
        tmp_path,
        """
        def f(sock):
            try:
                sock.recv()
            except OSError:
                raise
        def g(sock):
            try:
                sock.recv()
            except OSError as error:
                raise ValueError("x") from error
        """,
    )
    assert found["f"] >= {"OSError"}
    assert found["g"] >= {"ValueError"}
    assert "OSError" not in found["g"]


def test_functions_that_call_each_other_come_to_an_end(tmp_path: Path):
    found = leaving(tmp_path, "def f():\n    g()\n    raise KeyError('x')\n\ndef g():\n    f()\n")
    assert found == {"f": {"KeyError"}, "g": {"KeyError"}}


NESTED = """
def f(sock):
    try:
        sock.one()
        try:
            sock.two()
        except KeyError:
            pass
    except OSError:
        pass
    except (ValueError, OSError):
        pass
    finally:
        sock.three()
"""


def test_handlers_stop_what_they_catch_on_the_way_out(tmp_path: Path):
    escapes = analyse(read_app(tmp_path, NESTED))
    inner = next(number for number, attempt in enumerate(escapes.program.tries) if attempt.outer >= 0)
    outer = escapes.program.tries[inner].outer
    assert stopped(escapes, inner, outer, ("KeyError",))
    assert not stopped(escapes, inner, outer, ("OSError",))
    assert stopped(escapes, inner, -1, ("OSError", "ValueError"))
    assert not stopped(escapes, inner, -1, ("OSError", "TypeError"))


def test_events_under_a_try_are_also_those_of_tries_inside_it(tmp_path: Path):
    escapes = analyse(read_app(tmp_path, NESTED))
    outer = next(number for number, attempt in enumerate(escapes.program.tries) if attempt.outer < 0)
    assert {escapes.program.events[event].expression for event in events_under(escapes, outer)} >= {
        "sock.one",
        "sock.two",
    }


def test_a_handler_gets_what_those_above_it_leave(tmp_path: Path):
    program = read_app(tmp_path, NESTED)
    types = {guard.text: handled_types(program, guard) for guard in program.guards if guard.kind != GuardKind.CONDITION}
    assert types["except OSError"] == ("OSError",)
    assert types["except (ValueError, OSError)"] == ("ValueError",)
    assert types["finally"] == ("BaseException",)


def test_of_a_handlers_types_those_that_are_wanted_behind_it_count():
    assert narrowed(HIERARCHY, ("OSError", "KeyError"), ("ConnectionError",)) == ("ConnectionError",)
    assert narrowed(HIERARCHY, ("ConnectionError",), ("OSError",)) == ("ConnectionError",)
    assert narrowed(HIERARCHY, ("KeyError",), ("OSError",)) == ("KeyError",)


def test_handlers_around_a_site_are_also_those_around_the_calls_of_its_function(tmp_path: Path):
    program = read_app(
        tmp_path,
        """
        def read(sock):
            try:
                sock.recv()
            except KeyError:
                pass
        def serve(sock):
            try:
                read(sock)
            except OSError:
                pass
        """,
    )
    number = next(number for number, site in enumerate(program.sites) if site.expression == "sock.recv")
    assert handlers_around(program)[number] == ("KeyError", "OSError")
