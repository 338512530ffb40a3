import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.logs.statements import LogStatement, Parts, index_statements, joined, pattern_of, statement_of


def statement(key: str, *parts: str | None, level: str = "", logger: str = "") -> LogStatement:
    return LogStatement(key, 0, level, logger, *pattern_of(parts))


def wrote(message: str, *statements: LogStatement, level: str = "", logger: str = "") -> str:
    found = statement_of(LogRecord(1, "", logger, level, message), index_statements(statements))
    return found.key if found else ""


def test_neighbouring_texts_are_one_and_so_are_neighbouring_unknowns():
    assert joined(["a", "", "b", None, None, "c"]) == ("ab", None, "c")
    assert joined([""]) == ()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("order lost",), "order lost"),
        (("order ", None, " lost"), "order 7 lost"),
        (("order ", None), "order 7"),
        ((None, " lost"), "all is lost"),
        (("  order lost  ",), "order lost"),
        (("a ", None, " b ", None, " c"), "a 1 b b 2 c"),
        (("order ", None, " lost"), "order 7\nand 8 lost"),
    ],
)
def test_unknown_parts_match_anything(parts: Parts, message: str):
    assert wrote(message, statement("it", *parts)) == "it"


def test_of_statements_that_fit_the_one_with_most_known_text_wrote_it():
    vague, exact = statement("vague", "order ", None), statement("exact", "order ", None, " was lost")
    assert wrote("order 7 was lost", vague, exact) == "exact"
    assert wrote("order 7 was kept", vague, exact) == "vague"


def test_level_and_logger_tell_equal_texts_apart():
    one = statement("one", "started", level="INFO", logger="a")
    other = statement("other", "started", level="WARNING", logger="b")
    assert wrote("started", one, other, level="INFO") == "one"
    assert wrote("started", one, other, level="WARN") == "other"
    assert wrote("started", one, other, logger="b.child") == "other"
    assert wrote("started", one, other, logger="c") == ""


def test_hardly_any_known_text_needs_the_logger_to_say_the_same():
    anything = statement("anything", None, logger="shop")
    assert wrote("whatever", anything) == ""
    assert wrote("whatever", anything, logger="shop") == "anything"


@given(st.lists(st.one_of(st.none(), st.text(max_size=5)), max_size=6), st.text(max_size=8))
def test_a_statement_recognises_what_it_writes(parts: list[str | None], value: str):
    pattern, literals, _ = pattern_of(tuple(parts))
    assert all(literal for literal in literals)
    written = "".join(value if part is None else part for part in parts).strip()
    # Unknown parts match as little as possible: where they hold text of the statement itself, it may not fit.
    if not any(literal in value or value in literal for literal in literals):
        assert pattern.fullmatch(written)
