import sys
import textwrap
from pathlib import Path

from tests.samples.small_programs import read_app, read_python_log

from cutset.model.reproduction.log import LogRecord
from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.front_end import AnalysedProgram, FrontEnd
from cutset.reproduce.graph.distances import reaches
from cutset.reproduce.oracle.expression import parse_oracle
from cutset.reproduce.python.front_end import PythonAnalysis, PythonFrontEnd
from cutset.reproduce.rounds.harness import Workload
from cutset.reproduce.settings import FailureCase

WORKER = """
import logging, socket

log = logging.getLogger("app")

def ticker(sock):
    try:
        sock.recv(1)
    except OSError:
        log.error("stopped")
    print("tick")
"""
LINE = "2026-11-16 03:00:01,000 ERROR [MainThread] app: {}\n"


def analysis(tmp_path: Path, *, prints: bool = False) -> PythonAnalysis:
    return PythonAnalysis(read_app(tmp_path, WORKER), [], prints=prints)


def test_python_is_a_front_end(tmp_path: Path) -> None:
    front_end: FrontEnd = PythonFrontEnd()
    (tmp_path / "app.py").write_text(textwrap.dedent(WORKER))
    case = FailureCase(("app",), (str(tmp_path),), (), "", Workload(("python",), 1), parse_oracle("hang"))

    program: AnalysedProgram = front_end.read_program(case)

    assert [site.expression for site in program.sites] == ["sock.recv"]
    assert (program.files, program.lines, list(program.skipped)) == (1, 12, [])


def test_files_that_cannot_be_read_are_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("def f(:\n")
    case = FailureCase(("app",), (str(tmp_path),), (), "", Workload(("python",), 1), parse_oracle("hang"))

    (skipped,) = PythonFrontEnd().read_program(case).skipped

    assert skipped.startswith(f"{tmp_path / 'app.py'}: SyntaxError: ")


def test_a_record_is_recognised_by_its_statement(tmp_path: Path) -> None:
    (record,) = read_python_log(LINE.format("stopped"))
    (seen,) = analysis(tmp_path).recognise(record)
    assert seen.key == "app:10"


def test_what_is_printed_is_recognised_if_that_is_asked_for(tmp_path: Path) -> None:
    (record,) = read_python_log("tick\n")
    assert analysis(tmp_path).recognise(record) == []
    assert len(analysis(tmp_path, prints=True).recognise(record)) == 1


def test_a_message_leads_to_the_site_that_it_follows_from(tmp_path: Path) -> None:
    program = analysis(tmp_path)
    (record,) = read_python_log(LINE.format("stopped"))
    (seen,) = program.recognise(record)
    graph = program.causal_graph([seen])
    assert 0 in reaches(graph)
    effects = program.effects([record], [FaultKind.EXCEPTION], 1.0)(0, ("OSError",))
    assert effects[0].text.startswith("ConnectionResetError(")


def test_stack_traces_tell_what_was_raised_where(tmp_path: Path) -> None:
    program = analysis(tmp_path)
    line = program.sites[0].line
    failure = read_python_log(
        LINE.format("stopped")
        + f'Traceback (most recent call last):\n  File "/x/app.py", line {line}, in ticker\n    sock.recv(1)\n'
        "ConnectionResetError: [Errno 104] Connection reset by peer\n"
    )
    assert program.arising(failure) == {0: ["ConnectionResetError(104, 'Connection reset by peer')"]}


READER = """
import socket, wires

def head(sock):
    data = sock.recv(4)
    if not data:
        raise ConnectionError("closed")
    return data

def save(order):
    wires.save(order)
"""
WIRES = """
class Failed(Exception):
    def __init__(self, statement, params, orig):
        super().__init__(f"({type(orig).__module__}.{type(orig).__name__}) {orig}")

def save(order): ...
"""


def reading(tmp_path: Path, line: int, function: str, end: str) -> tuple[PythonAnalysis, list[LogRecord]]:
    (tmp_path / "wires.py").write_text(WIRES)
    program = read_app(tmp_path, READER)
    frame = f'  File "/x/app.py", line {line}, in {function}\n'
    failure = read_python_log(LINE.format("failed") + f"Traceback (most recent call last):\n{frame}{end}\n")
    env = {"PYTHONPATH": str(tmp_path)}
    return PythonAnalysis(program, [str(tmp_path)], interpreter=sys.executable, env=env), failure


def test_an_exception_that_a_traceback_shows_is_made_as_its_class_is(tmp_path: Path) -> None:
    program, failure = reading(tmp_path, 11, "save", "wires.Failed: (sqlite3.OperationalError) database is locked")
    (number,) = [number for number, site in enumerate(program.sites) if site.expression == "wires.save"]
    effect = "wires.Failed(None, {}, sqlite3.OperationalError('database is locked'))"
    assert program.arising(failure) == {number: [effect]}
    assert effect in [each.text for each in program.effects(failure, [FaultKind.EXCEPTION], 1)(number, ())]


def test_where_a_traceback_ends_at_a_raise_the_value_behind_it_is_the_fault(tmp_path: Path) -> None:
    program, failure = reading(tmp_path, 7, "head", "ConnectionError: closed")
    number, raised = (
        next(number for number, site in enumerate(program.sites) if site.expression == expression)
        for expression in ("sock.recv", "raise ConnectionError")
    )
    effects = program.effects(failure, list(FaultKind), 1)
    assert program.arising(failure) == {}
    assert [each.cost for each in effects(number, ()) if each.text == "return(b'')"] == [0]
    assert [(each.text, each.cost > 0) for each in effects(raised, ())] == [("ConnectionError('closed')", True)]
