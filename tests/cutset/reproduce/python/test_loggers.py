from pathlib import Path

import pytest
from tests.samples.small_programs import read_app

from cutset.reproduce.python.loggers import is_logging, logger_name, logger_names, message_slot, own_loggers
from cutset.reproduce.python.syntax import CodeEvent, EventKind, PythonProgram

SOURCE = """
import logging
from somewhere import other

log = logging.getLogger(__name__)
audit = logging.getLogger("shop.audit")
twice = logging.getLogger("one")
twice = logging.getLogger("two")

def f(self, x):
    {}
"""


def call(tmp_path: Path, text: str) -> tuple[PythonProgram, CodeEvent]:
    program = read_app(tmp_path, SOURCE.format(text))
    inside = [
        event
        for event in program.events
        if event.kind is EventKind.CALL and program.functions[event.function].name == "f"
    ]
    return program, inside[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("log.info('x')", True),
        ("self.logger.warning('x')", True),
        ("self._log.debug('x')", True),
        ("logging.error('x')", True),
        ("logging.getLogger('a').info('x')", True),
        ("structlog.get_logger().bind(a=1).info('x')", True),
        ("warnings.warn('x')", True),
        ("sys.stderr.write('x')", True),
        ("math.log(3)", False),
        ("self.catalog.info('x')", False),
        ("print('x')", False),
        ("info('x')", False),
    ],
)
def test_calls_that_log_are_known(tmp_path: Path, text: str, expected: bool):
    assert is_logging(call(tmp_path, text)[1]) is expected


def test_prints_are_logs_if_that_is_asked_for(tmp_path: Path):
    assert is_logging(call(tmp_path, "print('x')")[1], prints=True)
    assert is_logging(call(tmp_path, "sys.stdout.write('x')")[1], prints=True)


@pytest.mark.parametrize(
    ("text", "slot"),
    [("log.info('x', 1)", 0), ("log.log(20, 'x')", 1), ("log.info(msg='x')", "msg"), ("log.log('x')", 0)],
)
def test_the_message_is_where_the_call_has_it(tmp_path: Path, text: str, slot: int | str):
    assert message_slot(call(tmp_path, text)[1]) == slot


@pytest.mark.parametrize(
    ("text", "name"),
    [("log.info('x')", "app"), ("audit.info('x')", "shop.audit"), ("twice.info('x')", ""), ("x.info('x')", None)],
)
def test_a_logger_is_called_as_it_was_made(tmp_path: Path, text: str, name: str | None):
    program, event = call(tmp_path, text)
    assert logger_name(logger_names(program), program.modules["app"], event) == name


@pytest.mark.parametrize(
    ("body", "is_own"),
    [
        ("print(time.time(), message)", True),
        ("with open('a.log', 'a') as log_file:\n        log_file.write(message)", True),
        ("sys.stderr.write(message + chr(10))\n    sys.stderr.flush()", True),
        ("self.sock.write(message)", False),
        ("print(message)\n    g()", False),  # it does more
        ("return message.upper()", False),
    ],
)
def test_a_function_that_only_writes_what_it_is_given_is_a_logger(tmp_path: Path, body: str, is_own: bool):
    program = read_app(tmp_path, f"def g():\n    pass\n\ndef warning(self, message):\n    {body}\n")
    found = {
        (program.functions[function].name, name): level for (function, name), level in own_loggers(program).items()
    }
    assert found == ({("warning", "message"): "WARNING"} if is_own else {})
