import pytest
from tests.samples.small_programs import read_app

from cutset.model.reproduction.site import SiteKind
from cutset.reproduce.python.raised_words import raised_words


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("raise OSError('Connection lost')", "Connection lost"),
        ("raise OSError(\n            'Connection lost', 7\n        )", "Connection lost"),
        ("raise OSError('no')", ""),
        ("raise OSError(x)", ""),
        ("raise OSError(f'{x} was lost')", ""),
        ("raise OSError", ""),
    ],
)
def test_the_words_of_a_raise_are_its_plain_text(tmp_path, statement, words):
    program = read_app(tmp_path, f"def f(x):\n    if x:\n        {statement}\n")
    [site] = [site for site in program.sites if site.kind is SiteKind.RAISE]
    assert raised_words(site) == words
