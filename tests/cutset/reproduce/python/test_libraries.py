import sys
from textwrap import dedent

from tests.samples.small_programs import read_app

from cutset.reproduce.python.exception_making import make
from cutset.reproduce.python.libraries import imported_modules, read_libraries, tried

WIRES = """
    class WireError(Exception): ...
    class ConnectionError(WireError): ...
    class Strict(WireError):
        def __init__(self, *, code):
            assert code == 7
    class Picky(WireError):
        def __init__(self, *arguments):
            if len(arguments) != 2:
                raise TypeError
            super().__init__(arguments[1])
"""
APP = """
    import os, wires

    class Lost(Exception):
        def __init__(self, order, place):
            super().__init__(f"{order} is lost at {place}")
"""


def libraries(tmp_path):
    (tmp_path / "wires.py").write_text(dedent(WIRES))
    program = read_app(tmp_path, APP)
    return program, read_libraries(program, [str(tmp_path)])


def test_libraries_are_what_the_program_imports_but_the_standard_library(tmp_path):
    program, library = libraries(tmp_path)
    assert imported_modules(program)["app"] == ("os", "wires")
    assert list(library.packages) == ["wires"]
    assert list(library.sources) == ["wires"]


def test_exceptions_of_the_program_itself_can_be_made_but_are_no_library_s(tmp_path):
    _, library = libraries(tmp_path)
    assert make("app.Lost", "order-9 is lost at sea", library) == "app.Lost('order-9', 'sea')"


def test_what_cannot_be_made_is_left_out_or_made_in_another_way(tmp_path):
    _, library = libraries(tmp_path)
    after = tried(library, [("wires.Picky", "no")], sys.executable, {"PYTHONPATH": str(tmp_path)})
    names = [kind.dotted for kind in after.packages["wires"]]
    assert "wires.Strict" not in names
    assert make("wires.Picky", "no", after) == "wires.Picky(None, 'no')"
    assert make("ConnectionError", "[Errno 104] reset", after) == "ConnectionError(104, 'reset')"


def test_a_package_of_which_nothing_can_be_made_is_left_as_it_is(tmp_path):
    _, library = libraries(tmp_path)
    assert tried(library, [], sys.executable, {}).packages == library.packages  # it is not on the search path


def test_the_program_itself_is_not_imported(tmp_path):
    (tmp_path / "wires.py").write_text("")
    program = read_app(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Lost(Exception): ...\n")
    library = read_libraries(program, [str(tmp_path)])
    tried(library, [("app.Lost", "x"), ("Lost", "x")], sys.executable, {"PYTHONPATH": str(tmp_path)})
    assert not (tmp_path / "ran").exists()
