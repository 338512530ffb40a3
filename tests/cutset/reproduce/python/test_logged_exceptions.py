from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.python.exception_making import library_of
from cutset.reproduce.python.exception_tree import exception_tree
from cutset.reproduce.python.library_source import read_library
from cutset.reproduce.python.logged_exceptions import all_exceptions_in, exceptions_by_text, exceptions_in


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


WIRES = """
from .errors import ConnectionError

def receive():
    raise ConnectionError("Connection closed by server.")

def parse(key):
    raise ValueError(f"Cannot understand the answer to {key}")
"""


def library(tmp_path):
    package = tmp_path / "wires"
    package.mkdir()
    (package / "__init__.py").write_text(WIRES)
    (package / "errors.py").write_text(
        "class ConnectionError(Exception): ...\nclass OperationalError(Exception): ...\n"
    )
    return library_of(exception_tree(package), {"wires": read_library(package)})


def logged(*messages):
    return [LogRecord(1, "", "", "ERROR", message) for message in messages]


def test_a_text_without_a_type_is_that_of_whoever_raises_it(tmp_path):
    known = library(tmp_path)
    for message, found in {
        "cannot send: Connection closed by server.": [("wires.errors.ConnectionError", "Connection closed by server.")],
        "Cannot understand the answer to 7": [("builtins.ValueError", "Cannot understand the answer to 7")],
        "lost (database is locked)": [("sqlite3.OperationalError", "database is locked")],
        "gave up: Connection reset by peer": [("ConnectionResetError", "[Errno 104] Connection reset by peer")],
        "order 7 timed out": [],
        "database is locked by order 7": [],
        "Connection closed by server. Trying again": [],
        "no answer: Connection closed by server. Trying again": [
            ("wires.errors.ConnectionError", "Connection closed by server.")
        ],
        "no answer: database is locked, trying again": [("sqlite3.OperationalError", "database is locked")],
    }.items():
        assert exceptions_by_text(logged(message), known) == found, message


def test_a_type_without_its_module_is_the_one_that_says_such_things(tmp_path):
    found = all_exceptions_in(
        logged("OperationalError: database is locked", "OperationalError: else"), library(tmp_path)
    )
    assert found == [("sqlite3.OperationalError", "database is locked"), ("OperationalError", "else")]


def test_what_an_exception_wraps_is_one_of_its_own():
    traceback = (
        "Traceback (most recent call last):",
        "wires.OperationalError: (sqlite3.OperationalError) database is locked",
    )
    assert exceptions_in([LogRecord(1, "", "", "ERROR", "failed", traceback)]) == [
        ("sqlite3.OperationalError", "database is locked"),
        ("wires.OperationalError", "(sqlite3.OperationalError) database is locked"),
    ]


def test_a_message_goes_on_where_it_is_indented():
    traceback = (
        "grpc._channel._InactiveRpcError: <of RPC:",
        "\tstatus = StatusCode.UNAVAILABLE",
        '\tdetails = "x"',
        ">",
    )
    [(_, message)] = exceptions_in([LogRecord(1, "", "", "ERROR", "failed", traceback)])
    assert message == '<of RPC: status = StatusCode.UNAVAILABLE details = "x"'


def test_text_that_only_looks_like_an_exception_is_no_trouble():
    records = [LogRecord(1, "", "", "", text) for text in ("Error(", "ValueError(((", r"OSError('\d')", "all fine")]
    assert exceptions_in(records) == [("OSError", r"\d")]


def test_the_text_of_a_numbered_error_may_go_on_in_the_next_line():
    assert exceptions_in(logged("cannot write: b'[Errno 28] No space left on\ndevice'")) == [
        ("OSError", "[Errno 28] No space left on device")
    ]
    assert exceptions_in(logged("[Errno 28] of our own")) == [("OSError", "[Errno 28] of our own")]
