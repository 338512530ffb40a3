import pytest
from tests.samples.small_programs import read_app, read_python_log

from cutset.model.reproduction.site import FaultKind
from cutset.reproduce.python.effects import effects_of
from cutset.reproduce.python.exception_making import library_of

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


def test_a_raise_statement_raises_what_it_says(tmp_path):
    [effect] = effects(tmp_path, "raise TimeoutError")
    assert effect.text.startswith("TimeoutError(")
    assert effects(tmp_path, "raise TimeoutError", kinds={FaultKind.HANG}) == []
