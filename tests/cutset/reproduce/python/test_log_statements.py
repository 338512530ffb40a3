import textwrap

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.logs.statements import LogStatement, index_statements, statement_of
from cutset.reproduce.python.log_statements import log_statements
from cutset.reproduce.python.source import read_program


def _statements(tmp_path, text: str, *, prints: bool = False) -> list[LogStatement]:
    (tmp_path / "app.py").write_text(textwrap.dedent(text))
    return log_statements(read_program(["app"], [str(tmp_path)]), prints=prints)


def _record(message: str, logger: str = "", level: str = "") -> LogRecord:
    return LogRecord(1, "", logger, level, message)


def _matched(statements: list[LogStatement], message: str, logger: str = "", level: str = "") -> str:
    found = statement_of(_record(message, logger, level), index_statements(statements))
    return found.key if found else ""


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("log.info('job %s took %5.1f s (%(x)s) 100%%', a, b)", "job 7 took   1.5 s (q) 100%"),
        ("log.info('50% done')", "50% done"),
        ("log.info('job %s' % a)", "job x"),
        ("log.info('job {} of {n:>4}'.format(a, n=b))", "job 1 of    9"),
        ("log.info(f'job {a!r} of {b:d}')", "job 'x' of 9"),
        ("log.info('job ' + str(a) + ' done')", "job 17 done"),
        ("log.info('job '\n    'number one')", "job number one"),
        ("log.log(logging.INFO, 'job %s', a)", "job 3"),
        ("log.info(msg='job %s' % a)", "job 4"),
        ("log.bind(a=a).info('job done', n=b)", "job done n=4"),
        ("log.info('job {}', a)", "job 5"),
        ("logging.getLogger('x').info('job done')", "job done"),
        ("self.app.logger.info('job done')", "job done"),
        ("LOG.info(_('job %s'), a)", "job 6"),
        ("warnings.warn('job is odd', UserWarning)", "/a/b.py:3: UserWarning: job is odd\n  f()"),
        ("sys.stderr.write('job %d\\n' % a)", "job 8"),
    ],
)
def test_messages_of_every_style_are_recognised(tmp_path, call, message):
    statements = _statements(tmp_path, f"def f(self, a, b):\n    {call}\n")
    assert _matched(statements, message) == "app:2"
    assert _matched(statements, "something else") == ""


def test_a_message_in_a_variable_is_looked_up(tmp_path):
    statements = _statements(
        tmp_path,
        """
        def f(a):
            text = 'all is well'
            if a:
                text = f'bad: {a}'
            text += ' (end)'
            log.info(text)
        """,
    )
    assert _matched(statements, "all is well (end)") == _matched(statements, "bad: 3 (end)") == "app:7"


def test_who_calls_a_function_that_logs_its_parameter_is_the_statement(tmp_path):
    statements = _statements(
        tmp_path,
        """
        def debug(msg, *args):
            logger.debug(msg, *args)
        class A:
            def say(self, text):
                debug(text)
            def f(self, say=debug):
                self.say('first %s' % 1)
                debug('second %d', 2)
                say('third')
        """,
    )
    assert _matched(statements, "first 1") == "app:8"
    assert _matched(statements, "second 2") == "app:9"
    assert _matched(statements, "third", level="DEBUG") == "app:10"
    assert _matched(statements, "third", level="ERROR") == ""


def test_the_statement_with_most_known_text_wins(tmp_path):
    statements = _statements(
        tmp_path,
        """
        def f(a):
            log.info('%s', a)
            log.info('worker %s', a)
            log.info('worker %s stopped', a)
        """,
    )
    assert _matched(statements, "worker 1 stopped") == "app:5"
    assert _matched(statements, "worker 1 started") == "app:4"
    assert _matched(statements, "nobody knows") == ""  # a text of which nothing is known is any text


def test_loggers_and_levels_tell_equal_messages_apart(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / "pkg" / "a.py").write_text(
        "import logging\nlog = logging.getLogger(__name__)\n"
        "def f(x):\n    log.info('started')\n    log.error('started')\n    log.info(x)\n"
    )
    (tmp_path / "pkg" / "b.py").write_text(
        "import logging\nfrom pkg.a import log as theirs\nlog = logging.getLogger('other')\n"
        "def f():\n    log.info('started')\n    theirs.warning('of a')\n"
    )
    statements = log_statements(read_program(["pkg"], [str(tmp_path)]))
    assert _matched(statements, "started", "pkg.a", "INFO") == "pkg.a:4"
    assert _matched(statements, "started", "pkg.a", "ERROR") == "pkg.a:5"
    assert _matched(statements, "started", "other", "INFO") == "pkg.b:5"
    assert _matched(statements, "started", "somebody") == ""
    assert _matched(statements, "of a", "pkg.a", "WARN") == "pkg.b:6"
    assert _matched(statements, "anything at all", "pkg.a", "INFO") == "pkg.a:6"  # its logger alone is enough


def test_the_level_of_a_statement_is_known(tmp_path):
    statements = _statements(
        tmp_path,
        "def f():\n    log.exception('one')\n    log.error('two', exc_info=True)\n    log.warn('three')\n",
    )
    assert [one.level for one in statements] == ["ERROR", "ERROR", "WARNING"]


def test_prints_count_on_request(tmp_path):
    text = "def f(a):\n    print('value is', a)\n    print(f'value: {a}')\n"
    assert _statements(tmp_path, text) == []
    statements = _statements(tmp_path, text, prints=True)
    assert _matched(statements, "value: 3") == "app:3"
    assert _matched(statements, "value is 3") == "app:2"


def test_each_line_that_a_print_writes_is_a_message(tmp_path):
    statements = _statements(tmp_path, "def f(a):\n    print(f'\\nfailed: {a}\\n  while sending {a}')\n", prints=True)
    assert _matched(statements, "failed: 3") == "app:2"
    assert _matched(statements, "  while sending order 3") == "app:2+1"
    logged = _statements(tmp_path, "def f(a):\n    log.info(f'failed: {a}\\n  while sending')\n", prints=True)
    assert len(logged) == 1


def test_what_only_looks_like_logging_is_none(tmp_path):
    assert (
        _statements(tmp_path, "def f(dialog, catalog, messages):\n    messages.info('x')\n    dialog.error('y')\n")
        == []
    )


OWN = """
import sys, time

def say(message):
    sys.stdout.write(f"{time.time():.0f} {message}\\n")
    sys.stdout.flush()

class Console:
    def _write(self, level, text):
        print(time.strftime("%H:%M:%S"), level, text)

    def warning(self, text):
        self._write("WARNING", text)

def work(console: Console, n):
    say("order %s is placed" % n)
    console.warning(f"order {n} waits")
    send("order is sent")

def send(line):
    socket.write(line)
"""


def test_functions_that_write_what_they_are_given_are_loggers(tmp_path):
    statements = _statements(tmp_path, OWN)
    assert _matched(statements, "1700000000 order 7 is placed") == "app:16"
    assert _matched(statements, "12:00:00 WARNING order 7 waits") == "app:17"
    assert _matched(statements, "order 7 waits", level="WARNING") == "app:17"
    assert _matched(statements, "order 7 waits", level="ERROR") == ""
    assert _matched(statements, "order is sent") == ""  # to whom it may concern


_PIECES = st.text(alphabet="ab %{}.*(\n", max_size=6)


@example(["\n", ""], [""] * 4)  # what is behind the last word is gone where a value is nothing
@example(["\n", " "], [""] * 4)
@example([" ", "  ", ""], [""] * 4)
@given(st.lists(_PIECES, min_size=1, max_size=4), st.lists(_PIECES, min_size=4, max_size=4))
def test_whatever_a_format_makes_is_recognised(tmp_path_factory, literals, values):
    folder = tmp_path_factory.mktemp("formats")
    template = "known" + "%s".join(literal.replace("%", "%%") for literal in literals)
    count = len(literals) - 1
    assume("%" in template or "{" not in template)  # else it may as well be a format of braces
    arguments = "".join(f", a[{index}]" for index in range(count)) or ", *()"
    statements = _statements(folder, f"def f(a):\n    log.info({template!r}{arguments})\n")
    message = template % tuple(values[:count]) if count else template.replace("%%", "%")
    assert _matched(statements, message) == "app:2"


def test_many_unknowns_do_not_make_matching_slow(tmp_path):
    statements = _statements(tmp_path, f"def f(a):\n    log.info({'a%s' * 40 + 'b'!r}, *a)\n")
    assert _matched(statements, "a" * 20_000) == ""


def test_a_statement_knows_its_function_as_calling_contexts_name_it(tmp_path):
    text = """
    import logging
    class Ticker:
        def defer(self):
            logging.info("tick")
    logging.info("up")
    """
    assert [each.said_in for each in _statements(tmp_path, text)] == ["app.py:defer", "app.py:<module>"]
