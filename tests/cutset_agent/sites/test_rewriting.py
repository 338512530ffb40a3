"""Rewritten code does what it did: programs must not notice their sites."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.hooked_program import PECULIAR, Program, rows_and_texts, same
from tests.samples.interpreters import interpreter

from cutset_agent.sites.rewriting import rewrite


@pytest.mark.parametrize("version", [f"3.{minor}" for minor in range(8, 15)])
def test_a_script_and_its_traceback_are_the_same_with_tracing(version, tmp_path):
    program = Program(tmp_path, peculiar=PECULIAR)
    hooked = same(program, "peculiar.py", "argument", python=interpreter(version))
    assert "ValueError: on this line" in hooked.stderr
    visited = {text for text, *_ in program.visits()}
    assert {"super", "super().__init__", "locals", "await future", "base.chain().chain(1).fail", "decorated"} < visited


@pytest.mark.parametrize("version", ["3.8", "3.14"])
def test_an_imported_module_is_the_same_with_tracing(version, tmp_path):
    program = Program(tmp_path, peculiar=PECULIAR)
    same(program, "-c", "import peculiar; peculiar.main()", python=interpreter(version))
    assert len(program.visits()) > 100


def test_a_raise_fires_where_it_is_decided_on_its_own_line(tmp_path):
    program = Program(
        tmp_path,
        main="""
            def check(value):
                try:
                    if value < 0:
                        print("negative")
                        raise ValueError(value)
                    return value
                except ValueError as error:
                    print("handled", error, "on line", error.__traceback__.tb_lineno)
            for value in (1, -2, 3, 4):
                print(check(value))
        """,
    )
    normal = "1\nnegative\nhandled -2 on line 6\nNone\n3\n4\n"
    assert same(program, "main.py").stdout == normal
    assert [occurrence for text, occurrence, *_ in program.visits() if text.startswith("raise")] == [1, 2, 3, 4]
    hooked = program.run_hooked("main.py", choices=[("raise ValueError(value)", 3, "ValueError('injected')")])
    assert hooked.stdout == normal.replace("\n3\n", "\nhandled injected on line 6\nNone\n")
    assert program.run_hooked("main.py", choices=[("raise ValueError(value)", 3, "delay(0.01)")]).stdout == normal


def test_a_place_that_is_not_there_is_reported(tmp_path):
    program = Program(tmp_path, main="def f():\n    return abs(-1)\n\nprint(f())\n")
    path = str(tmp_path / "main.py")
    files = {path: [*program.files[path], [7, "call", 2, 0, 2, 9], [8, "raise", 1, 0, 1, 3]]}
    assert program.run_hooked("main.py", files=files).stdout == "1\n"
    assert len(program.visits()) == 1
    lines = sorted(program.problems().splitlines())
    assert lines == [
        f"site 7: there is no call to rewrite at {path}:2:0",
        f"site 8: there is no raise to rewrite at {path}:1:0",
    ]


def rewritten(source):
    rows, _ = rows_and_texts(source)
    tree = ast.parse(source)
    assert rewrite(tree, rows) == []
    return ast.unparse(tree)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("before\nraise E", "before\nSITE\nraise E"),
        ("before\nif a:\n    b\n    raise E", "before\nSITE\nif a:\n    b\n    raise E"),
        ("if a:\n    pass\nelif b:\n    raise E", "SITE\nif a:\n    pass\nelif b:\n    raise E"),
        ("if a:\n    if b:\n        raise E", "SITE\nif a:\n    if b:\n        raise E"),
        ("if a:\n    c\n    if b:\n        raise E", "if a:\n    c\n    SITE\n    if b:\n        raise E"),
        ("before\nif a:\n    return b\nraise E", "before\nSITE\nif a:\n    return b\nraise E"),
        (
            "for a in b:\n    if a:\n        return a\nraise E",
            "SITE\nfor a in b:\n    if a:\n        return a\nraise E",
        ),
        ("for a in b:\n    if a:\n        break\nraise E", "for a in b:\n    if a:\n        break\nSITE\nraise E"),
        ("while a:\n    if b:\n        raise E", "while a:\n    SITE\n    if b:\n        raise E"),
        (
            "while a:\n    if b:\n        continue\n    raise E",
            "while a:\n    SITE\n    if b:\n        continue\n    raise E",
        ),
        (
            "try:\n    if b:\n        raise E\nfinally:\n    c",
            "try:\n    SITE\n    if b:\n        raise E\nfinally:\n    c",
        ),
        ("if a:\n    with b:\n        raise E", "if a:\n    with b:\n        SITE\n        raise E"),
        ("try:\n    a\nexcept A:\n    raise E", "try:\n    a\nexcept A:\n    SITE\n    raise E"),
        (
            "match a:\n    case 1:\n        b\n        raise E",
            "SITE\nmatch a:\n    case 1:\n        b\n        raise E",
        ),
        ("def g():\n    return a\nraise E", "def g():\n    return a\nSITE\nraise E"),
    ],
)
def test_the_site_of_a_raise_is_where_it_is_decided(block, expected):
    def in_function(text):
        return "def f():\n" + "".join(f"    {line}\n" for line in text.splitlines())

    wanted = in_function(expected).replace("SITE", "if __cutset__[0](False): pass")
    assert rewritten(in_function(block)) == ast.unparse(ast.parse(wanted))


def test_class_bodies_and_annotations_are_left_alone():
    source = "class A:\n    x = f()\n\n    @g()\n    def m(self, a: h()=i()) -> j():\n        k()"
    tree = ast.parse(source)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    rows = [[7, "call", call.lineno, call.col_offset, call.end_lineno, call.end_col_offset] for call in calls]
    assert len(rewrite(tree, rows)) == 5
    assert ast.unparse(tree) == source.replace("k()", "__cutset__[7](k)()")


def expressions():
    """Nested calls with all forms of arguments, of a function that notes the order in which it is called."""
    leaves = st.integers(0, 9).map(str)

    def extend(inner):
        argument = st.one_of(
            inner,
            inner.map(lambda text: f"*[{text}]"),
            inner.map(lambda text: f"k={text}"),
            inner.map(lambda text: f"**{{'q': {text}}}"),
        )
        return st.one_of(
            st.lists(argument, max_size=3).map(lambda arguments: f"note({', '.join(sorted(arguments, key=rank))})"),
            inner.map(lambda text: f"note.again({text})\\\n.again(1)"),
            st.tuples(inner, inner).map(
                lambda pair: f"({pair[0]} if note({pair[1]}) else [note(x) for x in range(2)])"
            ),
            inner.map(lambda text: f"(lambda x={text}: note(x))()"),
            st.tuples(inner, inner).map(lambda pair: f"(note({pair[0]}) and (y := {pair[1]}))"),
        )

    return st.recursive(leaves, extend, max_leaves=12)


def rank(argument):
    return (argument.startswith("**"), argument.startswith("k="))


class Note:
    def __init__(self):
        self.calls = []

    def __call__(self, *args, **kwargs):
        self.calls.append(repr((args, sorted(kwargs.items()))))
        return len(self.calls) % 3

    def again(self, *args):
        self(*args)
        return self

    def __repr__(self):
        return "note"


@given(expressions())
def test_the_order_of_evaluation_does_not_change(expression):
    source = f"def f(note):\n    return {expression}, sorted(locals())\n"
    if source.count("k=") > 1 or source.count("'q'") > 1:
        source = source.replace("k=", "k0=", 1)
    try:
        plain_code = compile(source, "<plain>", "exec")
    except SyntaxError:
        return  # a repeated keyword
    rows, _ = rows_and_texts(source)
    tree = ast.parse(source)
    assert rewrite(tree, rows) == []
    results = []
    for code in plain_code, compile(tree, "<rewritten>", "exec"):
        scope = {"__cutset__": {row[0]: lambda target, *_: target for row in rows}}
        exec(code, scope)
        note = Note()
        try:
            results.append((repr(scope["f"](note)), note.calls))
        except TypeError as error:
            results.append((str(error), note.calls))
    assert results[0] == results[1]
