import ast
import importlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.reproduce.python.exception_making import library_of, make
from cutset.reproduce.python.exception_table import table
from cutset.reproduce.python.exception_tree import BUILTIN, ExceptionClass
from cutset.reproduce.python.exceptions import Specificity, candidates
from cutset.reproduce.python.library_source import read_library

NONE = library_of([])
STORE = library_of(
    [
        ExceptionClass("store.errors.StoreError", ("Exception",), "{message}", 0, ("store.StoreError",)),
        ExceptionClass(
            "store.errors.ConnectionError", ("store.errors.StoreError",), "{message}", 0, ("store.ConnectionError",)
        ),
        ExceptionClass("store.errors.ReadTimeout", ("store.errors.StoreError",), "{message}", 0),
        ExceptionClass("store.errors.InvalidKeyError", ("store.errors.StoreError",), "{message}", 0),
        ExceptionClass("store.errors.Wrapped", ("store.errors.StoreError",), "None, Exception({message})", 1),
    ]
)


def _evaluate(effect: str) -> BaseException:
    names = {}
    for node in ast.walk(ast.parse(effect, mode="eval")):
        if isinstance(node, ast.Attribute):
            module = ast.unparse(node).rpartition(".")[0]
            while module:
                try:
                    importlib.import_module(module)
                    break
                except ImportError:
                    module = module.rpartition(".")[0]
            names[module.partition(".")[0]] = sys.modules[module.partition(".")[0]]
    exception = eval(effect, names)
    assert isinstance(exception, BaseException)
    return exception


def _effects(call, resolved="", handlers=(), in_log=(), library=NONE, **more):
    return [candidate.effect for candidate in candidates(call, resolved, handlers, in_log, library, **more)]


@pytest.mark.parametrize(
    "fault", [fault for rule in table().rules for fault in rule.faults], ids=lambda f: f.effect[:40]
)
def test_every_fault_of_the_table_constructs_the_class_that_it_names(fault):
    exception = _evaluate(fault.effect)
    str(exception)
    assert type(exception) is type(_evaluate(make(fault.kind, "", NONE)))


@pytest.mark.parametrize("name", sorted(table().bases))
def test_every_class_of_the_table_can_be_constructed_and_has_the_base_it_is_said_to_have(name):
    for message in ("", "some message"):
        exception = _evaluate(make(name, message, NONE))
        base = table().bases[name]
        expected = BUILTIN[base] if base in BUILTIN else type(_evaluate(make(base, "", NONE)))
        assert isinstance(exception, expected)


@pytest.mark.parametrize("alias", sorted(table().aliases))
def test_every_other_name_leads_to_a_known_class(alias):
    target = table().aliases[alias]
    assert target in BUILTIN or target in table().bases


@pytest.mark.parametrize(
    ("call", "resolved", "first"),
    [
        ("os.fork", "os.fork", "OSError(12, 'Cannot allocate memory')"),
        ("sock.recv", "socket.socket.recv", "ConnectionResetError(104, 'Connection reset by peer')"),
        ("self.sock.sendall", "", "BrokenPipeError(32, 'Broken pipe')"),
        ("listener.accept", "", "socket.timeout('timed out')"),
        ("s.sendto", "", "OSError(101, 'Network is unreachable')"),
        ("conn.getresponse", "", "ConnectionResetError(104, 'Connection reset by peer')"),
        ("urlopen(url).read", "", "socket.timeout('timed out')"),
        ("open", "open", "FileNotFoundError(2, 'No such file or directory')"),
        ("self._file.write", "", "OSError(28, 'No space left on device')"),
        ("(folder / 'a').read_text", "", "FileNotFoundError(2, 'No such file or directory')"),
        ("os.fsync", "os.fsync", "OSError(5, 'Input/output error')"),
        ("cursor.execute", "", "sqlite3.OperationalError('database or disk is full')"),
        ("sqlite3.connect", "sqlite3.connect", "sqlite3.OperationalError('unable to open database file')"),
        ("json.loads", "json.loads", "json.JSONDecodeError('Expecting value', '', 0)"),
        ("thread.start", "", 'RuntimeError("can\'t start new thread")'),
        ("subprocess.run", "subprocess.run", "subprocess.CalledProcessError(1, 'command')"),
        ("socket.getaddrinfo", "socket.getaddrinfo", "socket.gaierror(-3, 'Temporary failure in name resolution')"),
        ("executor.submit", "", "RuntimeError('cannot schedule new futures after shutdown')"),
        ("smtplib.SMTP", "smtplib.SMTP", "ConnectionRefusedError(111, 'Connection refused')"),
        ("multiprocessing.Queue", "multiprocessing.Queue", "OSError(24, 'Too many open files')"),
    ],
)
def test_the_most_likely_fault_of_a_call_comes_first(call, resolved, first):
    assert _effects(call, resolved)[0] == first


@pytest.mark.parametrize(
    ("call", "resolved"),
    [
        ("len", "len"),
        ("', '.join", ""),
        ("('%s' % name).encode", ""),
        ("'{}'.format(name).encode", ""),
        ("self.items.append", ""),
        ("logger.exception", ""),
        ("time.monotonic", "time.monotonic"),
        ("ValueError", "ValueError"),
        ("os.path.join", "os.path.join"),
        ("subprocess.list2cmdline", "subprocess.list2cmdline"),
    ],
)
def test_calls_that_stay_in_the_process_have_no_faults(call, resolved):
    assert _effects(call, resolved, in_log=[("ConnectionResetError", "")], library=STORE) == []


def test_what_the_log_names_comes_before_handlers_table_and_library():
    found = candidates("sock.recv", "", ["socket.timeout"], [("ConnectionResetError", "[Errno 104] gone")], STORE)
    assert [candidate.effect for candidate in found[:2]] == [
        "ConnectionResetError(104, 'gone')",
        "socket.timeout('timed out')",
    ]
    assert [candidate.specificity for candidate in found[:2]] == [Specificity.LOG, Specificity.HANDLER]
    assert found[0].reason == "the log names it: `ConnectionResetError: [Errno 104] gone`"
    assert "`except socket.timeout` is around the call" in found[1].reason


def test_candidates_are_sorted_by_specificity():
    found = candidates("client.fetch", "", ["OSError", "KeyError"], [("store.errors.ReadTimeout", "x")], STORE)
    assert found == sorted(found, key=lambda candidate: -candidate.specificity)
    assert found[-1].specificity == Specificity.GENERIC


@pytest.mark.parametrize(
    "logged", [("OSError", "[Errno 28] No space left on device"), ("sqlite3.OperationalError", "database is locked")]
)
def test_what_the_log_names_but_the_call_cannot_raise_is_only_a_guess(logged):
    found = candidates("self.sock.sendall", "", [], [logged], NONE)
    assert found[0].effect == "BrokenPipeError(32, 'Broken pipe')"
    assert all(candidate.specificity < Specificity.LOG for candidate in found)


def test_a_number_of_the_log_that_the_table_does_not_know_is_believed():
    assert _effects("self.file.write", in_log=[("OSError", "[Errno 61] No data available")])[0].startswith(
        "OSError(61,"
    )


def test_a_message_with_a_file_name_gives_the_exception_its_file_name():
    effect = _effects("open", "open", in_log=[("FileNotFoundError", "[Errno 2] No such file or directory: '/a b'")])[0]
    exception = _evaluate(effect)
    assert (exception.errno, exception.filename) == (2, "/a b")


def test_a_library_s_exception_is_recognised_in_the_log_by_its_other_names_and_without_its_module():
    for name in ("store.errors.ConnectionError", "store.ConnectionError", "ConnectionError"):
        found = candidates("self.client.fetch", "", [], [(name, "gone")], STORE)
        assert found[0].effect == "store.errors.ConnectionError('gone')"
        assert found[0].specificity == Specificity.LOG


def test_a_message_that_names_what_was_wrapped_is_unwrapped():
    logged = [("store.errors.Wrapped", "(builtins.OSError) gone\nmore")]
    assert _effects("client.fetch", in_log=logged, library=STORE)[0] == "store.errors.Wrapped(None, OSError('gone'))"


def test_a_handler_of_a_base_class_yields_the_call_s_own_faults_below_it():
    found = candidates("sock.recv", "", ["ConnectionError"], [], NONE)
    assert found[0].effect == "ConnectionResetError(104, 'Connection reset by peer')"
    assert [candidate.specificity for candidate in found].count(Specificity.HANDLER) == 2  # and the class itself
    found = candidates("client.fetch", "", ["store.StoreError"], [], STORE)
    assert found[0].effect == "store.errors.ConnectionError('Connection reset by peer')"
    assert found[0].specificity == Specificity.HANDLER


def test_the_innermost_handler_comes_first():
    handlers = ["socket.timeout", "BrokenPipeError"]
    assert _effects("sock.sendall", handlers=handlers)[0] == "socket.timeout('timed out')"
    assert _effects("sock.sendall", handlers=handlers[::-1])[0] == "BrokenPipeError(32, 'Broken pipe')"


@pytest.mark.parametrize("handler", ["Exception", "BaseException"])
def test_a_handler_of_everything_changes_nothing(handler):
    assert candidates("sock.recv", "", [handler], [], STORE) == candidates("sock.recv", "", [], [], STORE)


def test_a_handler_of_what_the_library_defines_without_sounding_like_a_fault_is_followed():
    assert _effects("client.fetch", handlers=["store.errors.InvalidKeyError"], library=STORE)[0] == (
        "store.errors.InvalidKeyError('invalid key error')"
    )


def test_a_handler_of_another_library_s_exception_is_a_guess_at_a_call_of_the_standard_library():
    found = candidates("os.fork", "os.fork", ["store.errors.ConnectionError"], [], STORE)
    assert found[0].effect == "OSError(12, 'Cannot allocate memory')"
    assert [c.specificity for c in found if c.effect.startswith("store.")] == [Specificity.GUESS]


@pytest.mark.parametrize("name", ["queue.Empty", "KeyError", "StopIteration", "BlockingIOError"])
def test_exceptions_that_steer_the_program_need_a_handler_that_names_them(name):
    assert not any(effect.startswith(name) for effect in _effects("channel.fetch", in_log=[(name, "")]))
    found = candidates("channel.fetch", "", [name], [(name, "")], NONE)
    steering = [candidate for candidate in found if candidate.effect.startswith(name)]
    assert steering
    assert all(candidate.specificity == Specificity.GUESS for candidate in steering)


def test_a_harmless_call_may_raise_what_a_handler_names():
    assert _effects("int", "int", handlers=["ValueError"]) == ["ValueError('I/O operation on closed file.')"]


def test_every_await_can_be_cancelled_and_that_is_tried_second():
    assert _effects("reader.readline", awaited=True)[1] == "asyncio.CancelledError()"
    assert _effects("client.fetch", library=STORE, awaited=True)[1] == "asyncio.CancelledError()"
    assert _effects("asyncio.sleep", "asyncio.sleep", awaited=True) == ["asyncio.CancelledError()"]
    assert _effects("self._future", awaited=True)[0] == "asyncio.CancelledError()"


def test_what_comes_from_outside_does_not_arise_at_a_harmless_call_whatever_handlers_name():
    assert _effects("S_ISDIR", "stat.S_ISDIR", handlers=["OSError"]) == []
    assert _effects("Process", "multiprocessing.Process", handlers=["ConnectionError"]) == []
    assert _effects("os.path.join", "os.path.join", handlers=["OSError"]) == []
    assert _effects("os.getpgid", "os.getpgid", handlers=["OSError"]) == ["OSError(5, 'Input/output error')"]
    assert _effects("process.start", "multiprocessing.Process.start")[0] == "OSError(12, 'Cannot allocate memory')"


def test_cancellation_needs_an_await_or_a_handler():
    name = "asyncio.CancelledError"
    assert not any(effect.startswith(name) for effect in _effects("sock.recv", in_log=[(name, "")]))
    assert any(effect.startswith(name) for effect in _effects("sock.recv", handlers=[name]))


@pytest.mark.parametrize("name", ["KeyboardInterrupt", "SystemExit", "GeneratorExit"])
def test_exceptions_that_end_the_program_need_the_log_and_a_handler(name):
    for more in ({"in_log": [(name, "")]}, {"handlers": [name]}):
        assert not any(effect.startswith(name) for effect in _effects("sock.recv", **more))
    assert any(effect.startswith(name) for effect in _effects("sock.recv", handlers=[name], in_log=[(name, "")]))


def test_a_library_s_faults_are_told_by_name_and_its_mistakes_are_left_out():
    found = candidates("self.client.fetch", "", [], [], STORE)
    assert [candidate.effect for candidate in found] == [
        "store.errors.ConnectionError('Connection reset by peer')",
        "store.errors.ReadTimeout('timed out')",
        "store.errors.StoreError('store error')",
        "OSError(5, 'Input/output error')",
        "RuntimeError('unexpected error')",
    ]
    assert found[1].reason == "`store` defines it: by its name, for when the other side does not answer in time"


def test_a_dictionary_s_methods_are_a_guess_and_a_client_s_are_not():
    assert candidates("self.options.get", "", [], [], STORE)[0].specificity == Specificity.GUESS
    assert candidates("self.client.get", "", [], [], STORE)[0].specificity == Specificity.LIBRARY
    assert candidates("store.get", "", [], [], STORE, imports=["store"])[0].specificity == Specificity.LIBRARY


def test_a_call_of_another_library_gets_this_library_s_exceptions_only_as_a_guess():
    assert candidates("shop.buy", "shop.buy", [], [], STORE)[0].specificity == Specificity.GUESS
    assert candidates("store.get", "store.get", [], [], STORE)[0].specificity == Specificity.LIBRARY


def test_a_module_that_does_not_import_the_library_leads_to_it_only_through_what_is_named_a_client():
    assert candidates("self.part.fetch", "", [], [], STORE, imports=["os"])[0].specificity == Specificity.GUESS
    assert candidates("self.client.fetch", "", [], [], STORE, imports=["os"])[0].specificity == Specificity.LIBRARY
    assert candidates("self.part.fetch", "", [], [], STORE, imports=["store.x"])[0].specificity == Specificity.LIBRARY


def test_imports_tell_which_kind_of_receiver_is_meant():
    assert _effects("connection.execute", library=STORE, imports=["store"])[0].startswith("store.")
    assert _effects("connection.execute", library=STORE, imports=["sqlite3"])[0].startswith("sqlite3.")
    assert _effects("thing.read", imports=["socket"])[0].startswith("ConnectionResetError")


def test_classes_of_libraries_written_in_c_are_named_by_handlers_and_log_alone():
    for found in (
        candidates("cursor.fetch", "", ["fastdb.OperationalError"], [], NONE, imports=["fastdb"]),
        candidates(
            "cursor.fetch", "", [], [("fastdb.OperationalError", "operational error")], NONE, imports=["fastdb"]
        ),
    ):
        assert found[0].effect == "fastdb.OperationalError('operational error')"
    assert not any("other" in effect for effect in _effects("cursor.fetch", handlers=["self.other.Error"]))


def test_the_callee_tells_whose_exception_a_name_is():
    classes = [ExceptionClass("store.OperationalError", ("Exception",), "None, Exception({message})", 1)]
    library = library_of(classes)
    logged = [("OperationalError", "database is locked")]
    assert _effects("cursor.execute", "sqlite3.Cursor.execute", in_log=logged, library=library)[0] == (
        "sqlite3.OperationalError('database is locked')"
    )
    assert _effects("store.get", "store.get", in_log=logged, library=library)[0].startswith("store.OperationalError(")
    certain = [("builtins.ConnectionError", "gone")]  # as a traceback shows it
    assert not any(
        candidate.effect.startswith("store.") and candidate.specificity == Specificity.LOG
        for candidate in candidates("self.client.fetch", "", [], certain, STORE)
    )


def test_an_exception_of_a_library_that_the_call_does_not_lead_into_is_not_proposed():
    logged = [("store.errors.ConnectionError", "gone")]
    found = _effects("self.part.go", handlers=["store.StoreError"], in_log=logged, library=STORE, packages=["shop"])
    assert not any("store" in effect for effect in found)


def test_a_library_s_exceptions_are_a_guess_where_only_analysed_code_leads_to_it_unless_the_log_names_them():
    assert candidates("self.client.fetch", "", [], [], STORE, inside=True)[0].specificity == Specificity.GUESS
    logged = [("store.errors.ConnectionError", "gone")]
    assert candidates("self.client.fetch", "", [], logged, STORE, inside=True)[0].specificity == Specificity.LOG


def test_a_library_that_defines_what_is_called_goes_before_one_that_does_not(tmp_path):
    for name, text in {"store": "def fetch(): send()", "shop": "def buy(): send()"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    both = [ExceptionClass(f"{name}.ConnectionError", ("Exception",), "{message}", 0) for name in ("shop", "store")]
    library = library_of(both, {name: read_library(tmp_path / f"{name}.py") for name in ("shop", "store")})
    found = candidates("self.client.fetch", "", [], [], library, imports=["shop", "store"])
    assert [c.effect.partition(".")[0] for c in found if c.specificity == Specificity.LIBRARY] == ["store"]


def test_what_a_library_does_inside_the_process_raises_nothing_of_the_outside(tmp_path):
    (tmp_path / "store.py").write_text("def where(self): return Query(self)\ndef execute(self): self.wire.send(self)\n")
    classes = [ExceptionClass("store.ConnectionError", ("Exception",), "{message}", 0)]
    library = library_of(classes, {"store": read_library(tmp_path / "store.py")})
    logged = [("store.ConnectionError", "gone")]
    for call, founded in {"query.where": False, "query.execute": True, "query.unheard": True}.items():
        for in_log in ([], logged):
            found = candidates(call, "", [], in_log, library, imports=["store"])
            assert found[0].founded == founded, call


def test_the_base_of_a_library_without_faults_is_a_guess():
    user_interface = library_of([ExceptionClass("click.ClickException", ("Exception",), "{message}", 0)])
    assert not any(c.founded for c in candidates("Context", "", [], [], user_interface, imports=["click"]))


def test_closing_an_asynchronous_stream_loses_nothing_yet():
    assert _effects("writer.close", imports=["asyncio"]) == []
    assert _effects("writer.drain", imports=["asyncio"], awaited=True)[0].startswith("ConnectionResetError")
    assert _effects("writer.write", imports=["asyncio"])[0].startswith("ConnectionResetError")


def test_nothing_is_proposed_twice():
    found = _effects("sock.recv", handlers=["OSError", "socket.error"], in_log=[("socket.timeout", "timed out")])
    assert len(found) == len(set(found))


def test_other_numbers_of_a_class_wait_until_each_class_had_its_turn():
    kinds = [effect.partition("(")[0] for effect in _effects("self.file.write")]
    first_repeat = next(at for at, kind in enumerate(kinds) if kind in kinds[:at])
    assert first_repeat == 2
    assert kinds[:2] == ["OSError", "ValueError"]


@given(
    call=st.sampled_from(["a.read", "sock.recv", "f", "x[0].get", "await y", "(", "self._c.execute", ""]),
    handlers=st.lists(st.sampled_from([*table().bases, *BUILTIN, "store.StoreError", "nobody.Knows"]), max_size=3),
    in_log=st.lists(st.tuples(st.sampled_from([*table().bases, *BUILTIN]), st.text(max_size=9)), max_size=3),
    awaited=st.booleans(),
)
def test_whatever_is_named_each_proposal_of_the_standard_library_can_be_made(call, handlers, in_log, awaited):
    found = candidates(call, "", handlers, in_log, STORE, awaited=awaited)
    assert found == candidates(call, "", handlers, in_log, STORE, awaited=awaited)
    for candidate in found:
        if not candidate.effect.startswith("store."):
            _evaluate(candidate.effect)


def test_a_raise_statement_s_class_can_be_constructed_too():
    assert make("store.ConnectionError", "gone", STORE) == "store.errors.ConnectionError('gone')"
    assert make("IOError", "[Errno 5] broken", NONE) == "OSError(5, 'broken')"
    assert make("UnicodeDecodeError", "any", NONE).startswith("UnicodeDecodeError('utf-8', b'")


def test_a_handler_around_a_call_of_which_nothing_is_known_is_no_more_than_a_guess():
    by_call = {
        call: candidates(
            call, "", ["OSError"], [("OSError", "[Errno 28] No space left on device")], NONE, imports=["six"]
        )
        for call in ("line.translate", "self.connection.translate")
    }
    assert not any(candidate.founded for candidate in by_call["line.translate"])
    assert by_call["self.connection.translate"][0].founded
