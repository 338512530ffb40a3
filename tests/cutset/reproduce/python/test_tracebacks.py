import textwrap
from pathlib import Path

import pytest

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.logs.recognition import Sighting, sightings
from cutset.reproduce.logs.statements import index_statements
from cutset.reproduce.python.log_statements import log_statements
from cutset.reproduce.python.source import read_program
from cutset.reproduce.python.tracebacks import index_source, origins

_SOURCE = """
def outer(a):
    try:
        inner(a)
    except OSError:
        log.exception('outer failed')

def inner(a):
    a.send(
        1,
    )
"""

_TRACEBACK = """\
Traceback (most recent call last):
  File "/elsewhere/lib/app/work.py", line 4, in outer
    inner(a)
    ^^^^^^^^
  File "/elsewhere/lib/app/work.py", line 9, in inner
    a.send(
  File "/usr/lib/python3/socket.py", line 700, in send
    return self._sock.send(data)
{}"""


def _sightings(tmp_path: Path, record: LogRecord) -> list[Sighting]:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").touch()
    (tmp_path / "app" / "work.py").write_text(textwrap.dedent(_SOURCE))
    program = read_program(["app"], [str(tmp_path)])
    return sightings(record, index_statements(log_statements(program)), origins(record, index_source(program)))


def _lines(ending: str) -> tuple[str, ...]:
    return tuple(_TRACEBACK.format(ending).splitlines())


def test_a_logged_traceback_adds_its_place_to_the_statement(tmp_path):
    by_statement, seen = _sightings(
        tmp_path, LogRecord(1, "", "", "ERROR", "outer failed", _lines("ConnectionResetError: [Errno 104]"))
    )
    assert (by_statement.key, seen.key) == ("app.work:6", "raised at app.work:9")
    assert by_statement.statement is not None
    assert [(str(one), one.type) for one in seen.origins] == [("app.work:9", "ConnectionResetError")]
    assert seen.origins[0].context == "work.py:inner < work.py:outer"


@pytest.mark.parametrize(
    "message",
    ["Exception in thread Thread-5 (outer):", "Task exception was never retrieved\nfuture: <Task finished>", ""],
)
def test_an_uncaught_exception_is_known_by_its_place(tmp_path, message):
    (seen,) = _sightings(tmp_path, LogRecord(1, "", "", "", message, _lines("some.lib.Lost")))
    assert (seen.key, seen.statement, seen.origins[0].type) == ("raised at app.work:9", None, "some.lib.Lost")


def test_a_traceback_inside_the_message_counts_too(tmp_path):
    text = "Exception in thread Thread-5:\n" + "\n".join(_lines("OSError: x"))
    (seen,) = _sightings(tmp_path, LogRecord(1, "", "", "", text))
    assert seen.key == "raised at app.work:9"


def test_chained_tracebacks_are_several_and_the_cause_is_first(tmp_path):
    second = (
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        "Traceback (most recent call last):",
        '  File "/x/app/work.py", line 4, in outer',
        "    inner(a)",
        "RuntimeError: worse",
    )
    (seen,) = _sightings(tmp_path, LogRecord(1, "", "", "", "", _lines("OSError: x") + second))
    assert [(one.line, one.type) for one in seen.origins] == [(9, "OSError"), (4, "RuntimeError")]


def test_what_the_analysed_code_has_no_part_in_is_nothing(tmp_path):
    foreign = ("Traceback (most recent call last):", '  File "/x/other/work.py", line 4, in outer', "OSError: x")
    assert _sightings(tmp_path, LogRecord(1, "", "", "", "who knows", foreign)) == []
