import pytest

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.jvm.logged_exceptions import caught_by_writer, exceptions_in


def test_causes_come_before_what_wraps_them_and_each_once():
    trace = ("a.WrapException: stopped", "\tat a.B.c(B.java:1)", "Caused by: java.io.IOException: full", "\t... 1 more")
    record = LogRecord(1, "", "", "ERROR", "stopped", trace)
    assert exceptions_in([record, record]) == [("java.io.IOException", "full"), ("a.WrapException", "stopped")]


def test_messages_name_exceptions_as_text():
    record = LogRecord(1, "", "", "WARNING", "lost: java.lang.RuntimeException: java.net.SocketException: Broken pipe")
    assert exceptions_in([record]) == [
        ("java.net.SocketException", "Broken pipe"),
        ("java.lang.RuntimeException", "java.net.SocketException: Broken pipe"),
    ]


def test_a_method_of_an_exception_is_no_exception():
    assert (
        exceptions_in([LogRecord(1, "", "", "INFO", "at org.a.KeeperException.create(KeeperException.java:51)")]) == []
    )


@pytest.mark.parametrize(
    ("message", "trace", "caught"),
    [
        ("lost", ("a.WrapException: b", "\tat a.B.c(B.java:1)", "Caused by: java.io.IOException"), "a.WrapException"),
        ("lost: a.WrapException: java.io.IOException: full", (), "a.WrapException"),
        ("lost", (), ""),
    ],
)
def test_a_record_tells_of_the_exception_that_its_writer_caught(message, trace, caught):
    assert caught_by_writer(LogRecord(1, "", "", "ERROR", message, trace)) == caught
