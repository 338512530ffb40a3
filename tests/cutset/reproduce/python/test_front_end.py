import textwrap
from pathlib import Path

from tests.samples.small_programs import read_app, read_python_log

from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.front_end import AnalysedProgram, FrontEnd
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
    assert 0 in {node.site for node in graph.nodes}
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
