from pathlib import Path

from tests.samples.small_programs import read_app

from cutset.reproduce.python.running import may_run
from cutset.reproduce.python.syntax import PythonProgram

PROGRAM = """
def serve(sock):
    try:
        sock.recv()
    except OSError:
        recover(sock)
    if sock.odd:
        rare()

def recover(sock):
    retry(sock)

def retry(sock):
    sock.connect()
    sock.reset()

def rare(): pass

class Other:
    def connect(self): pass
"""


def lines_of(program: PythonProgram, *names: str) -> set[int]:
    return {row.line for row in program.functions if row.name in names}


def test_what_handlers_of_code_that_ran_call_may_run_and_all_that_it_calls(tmp_path: Path):
    program = read_app(tmp_path, PROGRAM)
    path = program.modules["app"].path
    found = may_run(program, {path: lines_of(program, "serve")})
    assert found[path] == lines_of(program, "serve", "recover", "retry")  # nothing by its name alone


def test_nothing_is_woken_by_handlers_of_code_that_did_not_run(tmp_path: Path):
    program = read_app(tmp_path, PROGRAM)
    path = program.modules["app"].path
    assert may_run(program, {path: lines_of(program, "rare")})[path] == lines_of(program, "rare")


def test_if_nothing_is_known_nothing_is_said(tmp_path: Path):
    assert may_run(read_app(tmp_path, PROGRAM), {}) == {}
