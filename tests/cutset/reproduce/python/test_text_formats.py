import ast
import re
from textwrap import dedent

import pytest

from cutset.reproduce.python.text_formats import text_formats


def read(body: str, text: str) -> dict[str, str] | None:
    [node] = ast.parse(f"class Error(Exception):\n{dedent(body).replace(chr(10), chr(10) + '    ')}").body
    assert isinstance(node, ast.ClassDef)
    matches = (re.fullmatch(pattern, text) for pattern in text_formats(node))
    return next((match.groupdict() for match in matches if match), None)


@pytest.mark.parametrize(
    "body",
    [
        """
        def __init__(self, host, port):
            super().__init__(f"no answer from {host!r} at {port}")
        """,
        """
        def __init__(self, host, port):
            super().__init__("no answer from %r at %s" % (host, str(port)))
        """,
        """
        def __init__(self, host, port):
            super().__init__("no answer from {!r} at {}".format(host, port))
        """,
        """
        def __str__(self):
            return "no answer from {0!r} at {1}".format(self.host, self._port)
        """,
        """
        fmt = "no answer from {host!r} at {port}"
        """,
    ],
)
def test_a_text_tells_the_arguments_that_it_was_composed_of(body):
    assert read(body, "no answer from 'a' at 80") == {"host__repr": "'a'", "port": "80"}
    assert read(body, "something else") is None


def test_what_is_shown_twice_is_the_same_both_times():
    body = """
    def __init__(self, name):
        super().__init__(f"{name} is not {name}")
    """
    assert read(body, "a is not a") == {"name": "a"}
    assert read(body, "a is not b") is None


@pytest.mark.parametrize("body", ["fmt = '{'", "fmt = '{x}'", "fmt = 'plain'", "def f(self): return f'to {self.x}'"])
def test_what_tells_nothing_is_no_format(body):
    assert read(f"\n{body}\n", "to a") is None
