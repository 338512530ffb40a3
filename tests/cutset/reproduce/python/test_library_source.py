from textwrap import dedent

import pytest

from cutset.reproduce.python.library_source import read_library

CLIENT = '''
    from .errors import (
        ConnectionError,
        Busy,
    )

    class Options:
        """Only keeps what it is given."""

        def __init__(self, host, retries=None):
            self.host = host.lower()
            self.retries = dict(retries or {})

    class Client:
        def __init__(self, host):
            self.options = Options(host)

        async def fetch(self, key):
            """Fetches.

            :raises Busy: if others fetch.
            """
            return await self._exchange(key)

        async def _exchange(self, key):
            await self.stream.drain()
            answer = await self.stream.readline()
            if not answer:
                raise ConnectionError("Connection closed by server.")
            if answer == b"?":
                raise ValueError(f"Cannot understand the answer to {key}")
            return parse(answer)

    def parse(answer):
        raise errors.Malformed("%s is no answer at all" % answer)
'''


@pytest.fixture
def library(tmp_path):
    (tmp_path / "wires" / "tests").mkdir(parents=True)
    (tmp_path / "wires" / "__init__.py").write_text("from .client import Client\n")
    (tmp_path / "wires" / "client.py").write_text(dedent(CLIENT))
    (tmp_path / "wires" / "tests" / "test_client.py").write_text(
        "def fetch(): raise AssertionError('of a test only')\n"
    )
    return read_library(tmp_path / "wires")


def test_a_function_raises_what_its_source_and_its_callees_and_its_docstring_name(library):
    reached = library.reached("wires.Client.fetch")
    assert reached.raised == {
        "Busy": "Client.fetch",
        "ConnectionError": "Client._exchange",
        "ValueError": "Client._exchange",
        "Malformed": "parse",
    }
    assert not reached.stays_inside


def test_a_constructor_that_only_keeps_its_arguments_stays_inside(library):
    for name in ("wires.Options", "wires.Client", "wires.client.Client"):
        reached = library.reached(name)
        assert reached.stays_inside
        assert not reached.raised


def test_a_method_of_something_unknown_is_found_by_its_name(library):
    assert not library.reached("?.fetch").stays_inside
    assert library.reached("?.parse").stays_inside


def test_examples_in_docstrings_and_overloads_are_no_calls(tmp_path):
    stubs = "@overload\ndef where(a): ...\n" * 20
    (tmp_path / "wire.py").write_text(f'{stubs}def where(a):\n    """As in::\n\n    conn.execute(where(a))\n    """\n')
    assert read_library(tmp_path / "wire.py").reached("wire.where").stays_inside


def test_a_class_without_a_constructor_keeps_data_unless_it_is_named_like_a_client(library):
    assert library.reached("wires.Row").stays_inside
    assert library.reached("wires.RedisClient") is None


def test_what_is_not_there_tells_nothing(library):
    assert library.reached("wires.nobody") is None
    assert library.reached("wires") is None


def test_texts_are_told_with_their_class_and_where_it_comes_from(library):
    texts = {raised.longest: raised for raised in library.raised_texts()}
    assert set(texts) == {"Connection closed by server.", "Cannot understand the answer to ", " is no answer at all"}
    module = texts["Connection closed by server."].module
    assert module == "wires.client"
    assert library.imports(module, "ConnectionError")
    assert not library.imports(module, "ValueError")


def test_a_single_module_is_a_library_too(tmp_path):
    (tmp_path / "wire.py").write_text("def send():\n    raise TimeoutError('not in time at all')\n")
    library = read_library(tmp_path / "wire.py")
    assert library.modules == ("wire",)
    assert "TimeoutError" in library.reached("wire.send").raised
