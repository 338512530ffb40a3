from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.python.logged_exceptions import exceptions_in


def test_exceptions_are_read_from_tracebacks_and_messages_causes_first():
    records = [
        LogRecord(
            1,
            "",
            "",
            "WARNING",
            "retrying after Aborted ProtocolError('gone', ConnectionResetError(104, 'reset'))): /x",
        ),
        LogRecord(2, "", "", "ERROR", "job failed: store.errors.ReadTimeout: no answer"),
        LogRecord(
            3,
            "",
            "",
            "ERROR",
            "crashed",
            (
                "Traceback (most recent call last):",
                '  File "a.py", line 1, in f',
                "    sock.recv(1)",
                "socket.timeout: timed out",
                "",
                "During handling of the above exception, another exception occurred:",
                "Traceback (most recent call last):",
                "KeyError: 'x'",
                "asyncio.exceptions.CancelledError",
            ),
        ),
        LogRecord(4, "", "", "ERROR", "again: store.errors.ReadTimeout: no answer"),
    ]
    assert exceptions_in(records) == [
        ("ConnectionResetError", "[Errno 104] reset"),
        ("ProtocolError", "gone"),
        ("store.errors.ReadTimeout", "no answer"),
        ("socket.timeout", "timed out"),
        ("builtins.KeyError", "'x'"),
        ("asyncio.exceptions.CancelledError", ""),
    ]


def test_text_that_only_looks_like_an_exception_is_no_trouble():
    records = [LogRecord(1, "", "", "", text) for text in ("Error(", "ValueError(((", r"OSError('\d')", "all fine")]
    assert exceptions_in(records) == [("OSError", r"\d")]
