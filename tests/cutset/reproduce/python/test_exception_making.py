import ast
import importlib
import sys
from textwrap import dedent

import pytest

from cutset.reproduce.python.exception_making import fault_of, library_of, make, ways_to_make
from cutset.reproduce.python.exception_tree import exception_tree

NONE = library_of([])
LIBRARY = """
    class Wrapper(Exception):
        def __init__(self, statement, params, orig):
            told = f" [{statement}]" if statement else ""
            super().__init__(f"({type(orig).__module__}.{type(orig).__name__}) {orig}{told}")

    class OfPool(Exception):
        def __init__(self, pool, message):
            super().__init__(f"{pool}: {message}")

    class TooOften(OfPool):
        def __init__(self, pool, url, reason=None):
            self.reason = reason
            super().__init__(pool, "gave up on %s (caused by %r)" % (url, reason))

    class Refused(Exception):
        template = "cannot reach {address!r} in zone {zone}"
        def __init__(self, **fields):
            super().__init__(self.template.format(**fields))

    class Coded(Exception):
        def __init__(self, code: int, reason: str):
            self.code = code + 0
            self.reason = reason
        def __str__(self):
            return "{}: {}".format(self.code, self.reason)

    class Gone(ConnectionError): ...
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    (folder / "wires.py").write_text(dedent(LIBRARY))
    sys.path.insert(0, str(folder))
    yield library_of(exception_tree(folder / "wires.py"))
    sys.path.remove(str(folder))


def evaluate(expression: str) -> BaseException:
    names = {}
    for node in ast.walk(ast.parse(expression)):
        if isinstance(node, ast.Attribute):
            module = ast.unparse(node).rpartition(".")[0]
            try:
                importlib.import_module(module)
            except ImportError:
                continue
            names[module.partition(".")[0]] = sys.modules[module.partition(".")[0]]
    return eval(expression, names)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("builtins.OSError", "[Errno 28] No space left on device"),
        ("ConnectionResetError", "[Errno 104] Connection reset by peer"),
        ("FileNotFoundError", "[Errno 2] No such file or directory: '/a b'"),
        ("OSError", "[Errno 18] Invalid cross-device link: 'a' -> 'b'"),
        ("socket.gaierror", "[Errno -3] Temporary failure in name resolution"),
        ("socket.timeout", "timed out"),
        ("ssl.SSLEOFError", "EOF occurred in violation of protocol (_ssl.c:1007)"),
        ("sqlite3.OperationalError", "database is locked"),
        ("KeyError", "'missing'"),
        ("KeyError", "('a', 1)"),
        ("UnicodeDecodeError", "'utf-8' codec can't decode byte 0x9c in position 12: invalid start byte"),
        ("UnicodeDecodeError", "'utf-8' codec can't decode bytes in position 3-4: unexpected end of data"),
        ("UnicodeEncodeError", r"'ascii' codec can't encode character '\xe9' in position 3: ordinal not in range(128)"),
        ("subprocess.CalledProcessError", "Command '['ls', '-l']' returned non-zero exit status 2."),
        ("subprocess.CalledProcessError", "Command 'sleep 1' died with <Signals.SIGKILL: 9>."),
        ("subprocess.TimeoutExpired", "Command '['a']' timed out after 30 seconds"),
        ("json.decoder.JSONDecodeError", "Expecting value: line 1 column 1 (char 0)"),
        ("json.JSONDecodeError", "Expecting ',' delimiter: line 3 column 5 (char 40)"),
        ("urllib.error.URLError", "<urlopen error [Errno 111] Connection refused>"),
        ("urllib.error.URLError", "<urlopen error timed out>"),
        ("urllib.error.HTTPError", "HTTP Error 503: Service Unavailable"),
        ("asyncio.exceptions.IncompleteReadError", "0 bytes read on a total of 10 expected bytes"),
        ("asyncio.IncompleteReadError", "3 bytes read on a total of undefined expected bytes"),
        ("http.client.IncompleteRead", "IncompleteRead(5 bytes read, 10 more expected)"),
        ("smtplib.SMTPDataError", "(451, b'Local error')"),
        ("ExceptionGroup", "unhandled errors in a TaskGroup (2 sub-exceptions)"),
    ],
)
def test_an_exception_of_the_standard_library_says_what_the_log_says(name, text):
    assert str(evaluate(make(name, text, NONE))) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("wires.Wrapper", "(sqlite3.OperationalError) database is locked"),
        ("wires.Wrapper", "(builtins.ValueError) no"),
        ("wires.OfPool", "Pool(host='x'): Read timed out."),
        ("wires.TooOften", "Pool(host='x'): gave up on /a (caused by TimeoutError('late'))"),
        ("wires.TooOften", "Pool: gave up on /a (caused by OfPool('it: late'))"),
        ("wires.Refused", "cannot reach 'a:1' in zone b"),
        ("wires.Coded", "503: Service Unavailable"),
        ("wires.Gone", "[Errno 104] Connection reset by peer"),
        ("wires.Gone", "gone"),
    ],
)
def test_an_exception_of_a_library_says_what_the_log_says(library, name, text):
    exception = evaluate(make(name, text, library))
    assert f"{type(exception).__module__}.{type(exception).__name__}" == name
    assert str(exception) == text


def test_a_service_s_error_has_its_code_and_its_operation():
    text = "An error occurred (SlowDown) when calling the PutObject operation (reached max retries: 4): Please wait"
    way = next(ways_to_make("botocore.exceptions.ClientError", text, NONE))
    answer, operation = ast.literal_eval(way.removeprefix("botocore.exceptions.ClientError"))
    assert operation == "PutObject"
    assert answer["Error"] == {"Code": "SlowDown", "Message": "Please wait"}
    assert answer["ResponseMetadata"]["RetryAttempts"] == 4


def test_a_call_that_failed_remotely_has_its_status():
    text = '<_InactiveRpcError of RPC that terminated with: status = StatusCode.UNAVAILABLE details = "no one"'
    exception = evaluate(make("grpc._channel._InactiveRpcError", text, NONE))
    assert (exception.code().name, exception.details()) == ("UNAVAILABLE", "no one")
    assert evaluate(make("grpc.RpcError", "late", NONE)).details() == "late"


def test_what_was_tried_decides_between_the_ways(library):
    usual, *others = ways_to_make("wires.Coded", "what", library)
    for way in others:
        assert make("wires.Coded", "what", library_of(library.by_name.values(), said={way: "else"})) == way
    said = {usual: "else", others[0]: "what"}
    assert make("wires.Coded", "what", library_of(library.by_name.values(), said=said)) == others[0]


def test_a_fault_has_the_number_of_the_operating_system_s_error():
    assert fault_of("IOError", "[Errno 28] No space left on device", "", NONE).errno == 28
    assert fault_of("KeyError", "[Errno 28] x", "", NONE).errno is None


def test_text_of_any_form_makes_some_exception(library):
    for text in ("", "(", "(a", "[Errno x]", "'", "\\", "a\nb", "((((", "(None) x", "x" * 5000, "{", "%s %"):
        for name in ("OSError", "KeyError", "wires.Coded", "wires.TooOften", "UnicodeDecodeError"):
            ast.parse(make(name, text, library))
