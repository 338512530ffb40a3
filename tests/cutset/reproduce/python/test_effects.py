import pytest
from tests.samples.small_programs import read_app, read_python_log

from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.python.effects import effects_of
from cutset.reproduce.python.exception_making import library_of
from cutset.reproduce.python.libraries import read_libraries

FETCH = """
import asyncio, socket, struct

class Client:
    def fetch(self, address):
        sock = socket.create_connection(address)
        header = struct.pack('>I', 7)
        try:
            return sock.recv(100)
        except socket.timeout:
            if not header:
                return None

    async def wait(self, future):
        await asyncio.open_connection('a', 1)

    def again(self, address):
        if not address:
            raise TimeoutError('no address')
        return self.fetch(address)
"""


def effects(tmp_path, expression, *, kinds=frozenset(FaultKind), log="", wanted=()):
    program = read_app(tmp_path, FETCH)
    [number] = [number for number, site in enumerate(program.sites) if site.expression == expression]
    return effects_of(program, library_of([]), read_python_log(log), kinds, 2.5)(number, wanted)


def test_exceptions_come_first_and_then_what_else_can_happen(tmp_path):
    found = effects(tmp_path, "sock.recv")
    texts = [effect.text for effect in found]
    assert texts[0].startswith("socket.timeout(")
    assert texts[-4:] == ["hang()", "return(b'')", "delay(2.5)", "crash()"]
    assert [effect.cost for effect in found] == sorted(effect.cost for effect in found)
    assert all(effect.why for effect in found)


@pytest.mark.parametrize("kind", FaultKind)
def test_only_the_kinds_that_are_wanted_are_tried(tmp_path, kind):
    texts = [effect.text for effect in effects(tmp_path, "sock.recv", kinds={kind})]
    beginning = {FaultKind.EXCEPTION: ""}.get(kind, f"{kind}(")
    assert texts
    assert all(text.startswith(beginning) for text in texts)


def test_what_leads_to_the_message_in_question_goes_before_what_does_not(tmp_path):
    assert effects(tmp_path, "sock.recv", wanted=["ConnectionError"])[0].text.startswith("Connection")
    assert effects(tmp_path, "asyncio.open_connection", wanted=["asyncio.CancelledError"])[0].text.startswith(
        "asyncio.CancelledError"
    )


def test_a_call_that_leaves_the_process_alone_does_not_hang(tmp_path):
    assert not [effect for effect in effects(tmp_path, "struct.pack") if not effect.text.endswith("Error')")]


RECEIVER = """
import logging, os, redis, socket
from app_errors import Lost

log = logging.getLogger("app")

class Receiver:
    def head(self, sock):
        data = sock.recv(4)
        if not data:
            raise ConnectionError("closed")
        return data

    def order(self, session, number):
        answer = session.post("/orders")
        if answer.status != 200:
            raise RuntimeError("refused")
        if number < 0:
            raise ValueError("no number")

    def quick(self):
        return self.options.get("quick")

    def store(self):
        client = redis.Redis()
        client.hgetall("a")
        self.note()

    def note(self):
        with open("note", "w") as file:
            file.write("x")

    def both(self):
        self.store()
"""
WIRES = """
class RedisError(Exception): ...
class ConnectionError(RedisError): ...
class Redis:
    def __init__(self, host="localhost"):
        self.host = host
    def hgetall(self, name):
        return self.send(name)
    def send(self, name):
        self.sock.sendall(name)
        raise ConnectionError("Connection closed by server.")
"""


def receiving(tmp_path, expression, log="", ended_at=()):
    (tmp_path / "redis.py").write_text(WIRES)
    program = read_app(tmp_path, RECEIVER)
    [number] = [number for number, site in enumerate(program.sites) if site.expression == expression]
    ends = [program.site_events[n] for n, site in enumerate(program.sites) if site.expression in ended_at]
    library = read_libraries(program, [str(tmp_path)])
    found = effects_of(program, library, read_python_log(log), frozenset(FaultKind), 2.5, ended_at=ends)(number, ())
    assert [effect.cost for effect in found] == sorted(effect.cost for effect in found)
    return {effect.text: effect for effect in found}


def test_a_wrong_value_that_the_code_tests_for_comes_among_the_exceptions(tmp_path):
    found = receiving(tmp_path, "sock.recv")
    assert found["return(b'')"].cost < found["hang()"].cost
    assert found["return(b'')"].why == "it reads less than it should: the other side has closed; the code tests for it"
    assert "return(None)" not in found


def test_a_raise_that_a_wrong_value_brings_about_comes_after_that_value(tmp_path):
    [raised] = receiving(tmp_path, "raise ConnectionError").values()
    assert raised.why == "the statement raises it, by what `sock.recv` returns"
    assert raised.cost > receiving(tmp_path, "sock.recv")["return(b'')"].cost
    traced = receiving(tmp_path, "sock.recv", ended_at=["raise ConnectionError"])
    assert traced["return(b'')"].cost == 0


def test_a_raise_that_stands_for_something_outside_comes_before_one_that_does_not(tmp_path):
    [outside] = receiving(tmp_path, "raise RuntimeError").values()
    [inside] = receiving(tmp_path, "raise ValueError").values()
    assert outside.cost < inside.cost


def test_a_raise_says_what_the_log_says_of_its_class(tmp_path):
    log = "2026-11-16 03:00:01,000 ERROR [MainThread] app: failed: ValueError: no number\n"
    assert list(receiving(tmp_path, "raise ValueError", log)) == ["ValueError('no number')"]


def test_a_library_s_exception_arises_where_a_call_leads_into_it_and_nowhere_else(tmp_path):
    kinds = {call: receiving(tmp_path, call) for call in ("client.hgetall", "open", "sock.recv", "redis.Redis")}
    gone = "redis.ConnectionError('Connection reset by peer')"
    assert kinds["client.hgetall"][gone].why == "`Redis.send` of `redis` raises it, which this call leads to"
    assert kinds["client.hgetall"][gone].cost == 0
    assert not any("redis" in text for call in ("open", "sock.recv") for text in kinds[call])
    assert kinds["redis.Redis"][gone].cost >= 2  # its constructor only keeps its arguments


def test_a_text_without_its_type_is_traced_to_the_library_that_raises_it(tmp_path):
    log = "2026-11-16 03:00:01,000 ERROR [MainThread] app: cannot store: Connection closed by server.\n"
    found = receiving(tmp_path, "client.hgetall", log)
    assert next(iter(found)) == "redis.ConnectionError('Connection closed by server.')"


def test_what_a_stack_trace_shows_arising_at_one_site_is_less_likely_at_others(tmp_path):
    program = read_app(tmp_path, "import os\ndef f(a):\n    os.mkdir(a)\n    os.fsync(a)\n")
    log = read_python_log("2026-11-16 03:00:01,000 ERROR [Main] app: OSError: [Errno 28] No space left on device\n")
    full = "OSError(28, 'No space left on device')"
    costs = []
    for arising in ({}, {0: [full]}):
        of = effects_of(program, library_of([]), log, [FaultKind.EXCEPTION], 1, arising=arising)
        costs.append([next(effect.cost for effect in of(number, ()) if effect.text == full) for number in (0, 1)])
    assert costs == [[0, 0], [0, 1]]


def test_a_raise_statement_raises_what_it_says(tmp_path):
    [effect] = effects(tmp_path, "raise TimeoutError")
    assert effect.text.startswith("TimeoutError(")
    assert effects(tmp_path, "raise TimeoutError", kinds={FaultKind.HANG}) == []


def test_a_raise_whose_words_the_failure_log_has_is_as_likely_as_a_call(tmp_path):
    [silent] = effects(tmp_path, "raise TimeoutError")
    [spoken] = effects(tmp_path, "raise TimeoutError", log="ERROR:app:cannot fetch: no address\n")
    assert (silent.text, spoken.text) == ("TimeoutError('no address')",) * 2
    assert spoken.cost == 0 < silent.cost
    assert spoken.why == "the statement raises it, and the failure log has its words"
