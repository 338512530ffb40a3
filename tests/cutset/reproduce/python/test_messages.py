import ast

import pytest

from cutset.reproduce.python.messages import brace_parts, percent_parts, text_parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("'a b'", ("a b",)),
        ("'a %s b' % x", ("a ", None, " b")),
        ("'100%% of %(name)-5.2f' % x", ("100% of ", None)),
        ("f'a {x!r} b {y:>4}'", ("a ", None, " b ", None)),
        ("'a {} {n:d}'.format(x, n=y)", ("a ", None, " ", None)),
        ("'a ' + str(x) + ' b'", ("a ", None, " b")),
        ("_('a %s') % x", ("a ", None)),
        ("'a' if x else 'b'", (None,)),
        ("x + y", ()),
        ("x", ()),
        ("3", ()),
    ],
)
def test_what_is_known_of_a_text_before_the_program_runs(text, parts):
    assert text_parts(ast.parse(text, mode="eval").body) == parts


def test_an_unbalanced_brace_is_no_format():
    assert brace_parts(("a { b",)) == ("a { b",)
    assert brace_parts(("{{a}} {x}", None)) == ("{a} ", None)


def test_unknown_parts_stay_unknown():
    assert percent_parts((None, " %d of %s")) == (None, " ", None, " of ", None)
