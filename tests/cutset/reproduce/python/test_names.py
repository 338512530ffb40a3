import ast

import pytest

from cutset.reproduce.python.names import (
    NOTHING,
    UNKNOWN,
    annotation_chain,
    caught_types,
    chain_of,
    flat_targets,
    leaves,
    literal_chain,
    one_line,
    reads_of,
    suppressed_types,
    target_chain,
)


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("a", ("a",)),
        ("self.pool.get", ("self", "pool", "get")),
        ("f(x).get", ("", "get")),
        ("x[0].y.z", ("", "y", "z")),
    ],
)
def test_a_chain_has_the_names_of_a_dotted_expression(text, chain):
    assert chain_of(expression(text)) == chain


def test_an_expression_is_shown_on_one_line():
    assert one_line(expression("self.pool.get")) == "self.pool.get"
    assert one_line(expression("f(\n    a,\n    b)")) == "f(a, b)"


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("Pool", ("Pool",)),
        ("db.Pool", ("db", "Pool")),
        ("'Pool'", ("Pool",)),
        ("Pool | None", ("Pool",)),
        ("Optional[Pool]", ("Pool",)),
        ("typing.Annotated[Pool, 3]", ("Pool",)),
        ("list[int]", ("list",)),
        ("A | B", UNKNOWN),
        ("Any", UNKNOWN),
        ("'not python ('", UNKNOWN),
        ("None", NOTHING),
    ],
)
def test_an_annotation_names_a_class_however_it_is_written(text, chain):
    assert annotation_chain(expression(text)) == chain


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("None", NOTHING),
        ("3", ("int",)),
        ("f'{x}'", ("str",)),
        ("{}", ("dict",)),
        ("[x for x in y]", ("list",)),
        ("{1}", ("set",)),
        ("(1, 2)", ("tuple",)),
        ("f()", UNKNOWN),
    ],
)
def test_a_value_that_is_written_out_tells_its_class(text, chain):
    assert literal_chain(expression(text)) == chain


def test_of_a_call_what_it_is_done_to_is_read():
    assert set(reads_of(expression("a.b.c(d, key=self.e) and f"))) == {("a", "b"), ("d",), ("self", "e"), ("f",)}
    assert reads_of(expression("lambda: x")) == ()


def test_an_assignment_to_an_item_changes_what_holds_it():
    assert target_chain(expression("a.b[k]")) == ("a", "b")
    assert [chain_of(one) for one in flat_targets(expression("(a, [b, c.d])"))] == [("a",), ("b",), ("c", "d")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("return", True),
        ("if x:\n    return\nelse:\n    raise E", True),
        ("if x:\n    return", False),
        ("continue", True),
        ("x = 1", False),
        ("", False),
    ],
)
def test_control_does_not_get_past_what_leaves(text, expected):
    assert leaves(ast.parse(text).body) is expected


def test_types_that_are_caught_are_named():
    assert caught_types(None) == ("BaseException",)
    assert caught_types(expression("(OSError, db.Error)")) == ("OSError", "db.Error")
    assert suppressed_types(expression("contextlib.suppress(OSError)")) == ("OSError",)
    assert suppressed_types(expression("open(name)")) == ()
