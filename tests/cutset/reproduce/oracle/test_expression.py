import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.judged_rounds import a_round, answer, ask

from cutset.errors import InputError
from cutset.process.keeper import Ending
from cutset.reproduce.oracle.expression import Both, Check, Either, Not, Oracle, parse_oracle, quiet_seconds

# The grammar.


@pytest.mark.parametrize(
    ("text", "oracle"),
    [
        ("hang", Check("hang")),
        ("hang:30s", Check("hang", "30s")),
        ("log:lost connection", Check("log", "lost connection")),
        ("log: lost ", Check("log", "lost")),
        ('log:"salt and pepper"', Check("log", "salt and pepper")),
        ("log:'it''s \"gone\"'", Check("log", 'it\'s "gone"')),
        ("exit:!0 and log:a", Both((Check("exit", "!0"), Check("log", "a")))),
        ("hang or log:a and log:b", Either((Check("hang"), Both((Check("log", "a"), Check("log", "b")))))),
        ("(hang or log:a) and log:b", Both((Either((Check("hang"), Check("log", "a"))), Check("log", "b")))),
        ("not hang and log:a", Both((Not(Check("hang")), Check("log", "a")))),
        ("not(hang or exit:3)", Not(Either((Check("hang"), Check("exit", "3"))))),
        ("not not hang", Not(Not(Check("hang")))),
        ("log:(lost and found|gone) or hang", Either((Check("log", "(lost and found|gone)"), Check("hang")))),
        (r"(log:f\( or hang)", Either((Check("log", r"f\("), Check("hang")))),
        ("(log:[)] or hang)", Either((Check("log", "[)]"), Check("hang")))),
        ("(log:[]) and hang] and hang)", Both((Check("log", "[]) and hang]"), Check("hang")))),
        ("log:sand or hang", Either((Check("log", "sand"), Check("hang")))),
        ("log:android orders", Check("log", "android orders")),
        ("exception:OSError: reset by peer", Check("exception", "OSError: reset by peer")),
        ('command:"test -f a and" and hang', Both((Check("command", "test -f a and"), Check("hang")))),
        ("\n  log:a\n  and hang\n", Both((Check("log", "a"), Check("hang")))),
    ],
)
def test_an_oracle_is_read_as_its_grammar_says(text, oracle):
    assert parse_oracle(text) == oracle


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("", 1, "expected a check, one of log, "),
        ("lgo:x", 1, "expected a check"),
        ("log:salt and pepper", 14, "found `pepper`"),
        ("(hang", 6, "expected `)` for the `(` at character 1"),
        ("hang)", 5, "expected `and`, `or` or the end"),
        ("hang hang", 5, "expected `and`, `or` or the end"),
        ('log:"x', 5, "is not closed"),
        ('log:"x" y', 8, "found `y`"),
        ("log:(x", 5, "a `(` in this argument is not closed"),
        ("log:*x", 5, "`*x` is none: nothing to repeat"),
        ("log", 4, "needs a regular expression"),
        ("log:", 5, "needs a regular expression"),
        ("hang or", 8, "it ends there"),
        ("log:a and", 10, "it ends there"),
        ("log:a or", 9, "it ends there"),
        ("(log:a and) or hang", 11, "expected a check"),
        ("hang or ", 9, "it ends there"),
        ("hang:soon", 6, "needs a time"),
        ("hang:0s", 6, "needs a time"),
        ("exit:no", 6, "needs an exit code"),
        ("signal:SIGHOP", 8, "needs the number or the name of a signal"),
        ("signal:99", 8, "needs the number or the name of a signal"),
        ("exception:: x", 11, "needs the name of a type"),
        ("file:x", 6, "needs a file and what is expected of it"),
        ("python:x.py", 8, "needs a file and a function"),
        ("command:", 9, "needs a command"),
    ],
)
def test_a_wrong_oracle_is_refused_with_the_place(text, where, what):
    with pytest.raises(InputError) as refused:
        parse_oracle(text)
    assert f"at character {where}:" in refused.value.message
    assert what in refused.value.message


arguments = st.one_of(
    st.text(min_size=1).map(lambda text: text.strip() or "x"),
    st.text("ab \\()[]'\" and or not", min_size=1).map(lambda text: text.strip() or "x"),
)
checks = st.one_of(
    st.builds(Check, st.just("command"), arguments),
    st.sampled_from(
        [Check("hang"), Check("exit", "!0"), Check("log", "[)(]"), Check("log", r"\("), Check("log", " x")]
    ),
)
oracles = st.recursive(
    checks,
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.builds(Both, st.lists(parts, min_size=2, max_size=3).map(tuple)),
        st.builds(Either, st.lists(parts, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@given(oracles)
def test_an_oracle_is_written_as_it_is_read(oracle: Oracle):
    assert parse_oracle(str(oracle)) == oracle


@given(st.text("log:hang exit!0()[]\\'\" andornot:", max_size=40))
def test_any_text_is_an_oracle_or_refused(text):
    try:
        oracle = parse_oracle(text)
    except InputError:
        return
    assert parse_oracle(str(oracle)) == oracle


def test_the_longest_silence_of_an_oracle_is_what_a_round_must_wait_for():
    assert quiet_seconds(parse_oracle("log:x or hang")) == 0
    assert quiet_seconds(parse_oracle("log:x and (hang:2s or not hang:500ms)")) == 2
    assert quiet_seconds(parse_oracle("hang:1.5m")) == 90


# Combinations.

YES, NO, UNSURE = "log:here", "log:gone", "command:'exit 2'"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{YES} and {YES}", "yes"),
        (f"{YES} and {NO}", "no"),
        (f"{UNSURE} and {NO}", "no"),
        (f"{UNSURE} and {YES}", "cannot tell"),
        (f"{YES} or {UNSURE}", "yes"),
        (f"{UNSURE} or {YES}", "yes"),
        (f"{NO} or {UNSURE}", "cannot tell"),
        (f"{NO} or {NO}", "no"),
        (f"not {UNSURE}", "cannot tell"),
        (f"not {NO} and not ({NO} or not {YES})", "yes"),
    ],
)
def test_checks_are_combined_with_three_values(tmp_path, text, expected):
    assert answer(text, a_round(tmp_path, "here\n")) == expected


def test_reasons_of_all_that_count_are_given(tmp_path):
    record = a_round(tmp_path, "here\nthere\n")
    assert ask("log:^here and log:^there", record).reason == "run.log:1: here; run.log:2: there"
    assert ask("log:^here and log:gone", record).reason == "no line matches `gone`"


@pytest.mark.parametrize("ended", [Ending.LOST, Ending.CANCELLED])
def test_a_round_that_nobody_saw_the_end_of_tells_nothing(tmp_path, ended):
    assert answer("log:here", a_round(tmp_path, "here\n", ended=ended)) == "cannot tell"
