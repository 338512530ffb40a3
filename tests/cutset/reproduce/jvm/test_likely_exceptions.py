from tests.samples.jvm_programs import IO, program_of

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.jvm.exception_types import ExceptionTypes
from cutset.reproduce.jvm.likely_exceptions import OutsideCall, failure_words, likely_exceptions

TYPES = ExceptionTypes(program_of({}))
FORCE = OutsideCall("java.nio.channels.FileChannel", "force", (IO,))
OPEN = OutsideCall("com.shop.Bank", "open", (IO,))
READ = OutsideCall("java.io.DataInputStream", "readInt", (IO,))
NOTHING = failure_words([], [])


def said(message: str, *trace: str):
    return failure_words([LogRecord(1, "", "", "ERROR", message, trace)], [])


def texts(call, wanted=(), here=(), words=NOTHING):
    return [effect.text for effect in likely_exceptions(call, wanted, here, words, TYPES)]


def test_what_is_declared_has_the_usual_words():
    (effect,) = likely_exceptions(FORCE, (), (), NOTHING, TYPES)
    assert (effect.text, effect.cost) == ('java.io.IOException("No space left on device")', 0)


def test_words_of_the_log_come_first():
    words = said("cannot write", "java.io.IOException: quota exceeded", "\tat a.B.c(B.java:1)")
    assert texts(FORCE, words=words)[0] == 'java.io.IOException("quota exceeded")'
    assert texts(READ, words=said("failed: Read timed out"))[0] == 'java.net.SocketTimeoutException("Read timed out")'


def test_where_a_message_has_words_of_the_machine_what_says_otherwise_is_late():
    lines = ["caught a class java.io.IOException", "with message: No space left on device"]
    words = failure_words([LogRecord(number, "", "", "", line) for number, line in enumerate(lines)], [])
    said_so, silent = likely_exceptions(FORCE, (), (), words, TYPES)
    assert (said_so.text, said_so.cost) == ('java.io.IOException("No space left on device")', 0)
    assert (silent.text, silent.cost >= 10) == ("java.io.IOException()", True)
    assert likely_exceptions(OPEN, (), (), words, TYPES)[0].cost >= 10
    shown = said(
        "cannot write: No space left on device", "java.io.IOException: No space left on device", "\tat a.B.c(B.java:1)"
    )
    assert likely_exceptions(READ, (), (), shown, TYPES)[0].cost == 0


def test_a_disk_does_not_refuse_connections_though_the_log_names_it():
    words = said("cannot connect", "java.net.ConnectException: Connection refused", "\tat a.B.c(B.java:1)")
    assert texts(FORCE, words=words) == ['java.io.IOException("No space left on device")']
    assert 'java.net.ConnectException("Connection refused")' not in texts(READ, words=words)
    assert 'java.net.ConnectException("Connection refused")' in texts(OPEN, words=words)


def test_what_leads_to_a_handler_comes_before_what_does_not():
    first, second, *_ = likely_exceptions(READ, ["java.io.EOFException"], (), NOTHING, TYPES)
    assert (first.text, first.cost) == ("java.io.EOFException()", 0)
    assert second.cost > 1


def test_what_a_stack_trace_shows_here_is_first_and_what_it_shows_elsewhere_is_later():
    shown = 'java.io.IOException("No space left on device")'
    elsewhere = failure_words([], [[shown]])
    assert likely_exceptions(FORCE, (), [shown], elsewhere, TYPES)[0].cost == 0
    assert likely_exceptions(FORCE, (), (), elsewhere, TYPES)[0].cost == 1


def test_what_nobody_declares_needs_the_log_and_a_call_that_throws_it():
    execute = OutsideCall("java.util.concurrent.Executor", "execute", ())
    rejected = "java.util.concurrent.RejectedExecutionException"
    program = ExceptionTypes(program_of({}, {rejected: ["java.lang.RuntimeException"]}))
    words = said(f"{rejected}: full")
    (effect,) = likely_exceptions(execute, (), (), words, program)
    assert (effect.text, effect.cost) == (f'{rejected}("full")', 2)
    assert likely_exceptions(execute, (), (), NOTHING, program) == []
    assert likely_exceptions(OutsideCall("a.B", "c", ()), (), (), words, program) == []


def test_what_the_program_itself_decides_is_unlikely_unless_the_log_names_it():
    call = OutsideCall("java.lang.Class", "forName", ("java.lang.ClassNotFoundException",))
    assert likely_exceptions(call, (), (), NOTHING, TYPES)[0].cost == 2
    words = said("java.lang.ClassNotFoundException: a.Driver")
    assert likely_exceptions(call, (), (), words, TYPES)[0].cost == 0


def test_what_is_declared_though_nobody_has_to_is_unlikely_unless_the_log_names_it():
    refused = "com.shop.RefusedException"
    types = ExceptionTypes(program_of({}, {refused: ["java.lang.RuntimeException"]}))
    pay = OutsideCall("com.shop.Bank", "pay", (refused, IO))
    io, unchecked = likely_exceptions(pay, (), (), NOTHING, types)
    assert (io.text, io.cost) == ('java.io.IOException("Input/output error")', 0)
    assert (unchecked.text, unchecked.cost) == (f'{refused}("injected")', 3)
    assert likely_exceptions(pay, (), (), said(f"no payment: {refused}: later"), types)[0].text == f'{refused}("later")'
