import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.errors import InputError
from cutset.model.reproduction.event import OracleAnswer
from cutset.process.keeper import Ending
from cutset.reproduce.oracle.expression import Both, Check, Either, Not, Oracle, judge, parse_oracle, quiet_seconds
from cutset.reproduce.oracle.symptoms import OracleVerdict
from cutset.reproduce.python.log_dialect import PythonLogs
from cutset.reproduce.rounds.runner import RoundRecord


def a_round(
    folder: Path,
    output: str = "",
    *,
    ended: Ending = Ending.EXITED,
    exit_code: int | None = 0,
    signal: int | None = None,
    wall_s: float = 1.0,
    silent_s: float = 0.0,
) -> RoundRecord:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    (folder / "run.log").write_text(output)
    return RoundRecord(
        folder=folder,
        work=work,
        ended=ended,
        exit_code=exit_code if ended is Ending.EXITED and signal is None else None,
        signal=signal,
        wall_s=wall_s,
        cpu_s=0.1,
        silent_s=silent_s,
        outputs=(folder / "run.log",),
        logs=(folder / "run.log",),
        fired=None,
        visits=(),
        problems=(),
    )


def ask(specification: str, record: RoundRecord) -> OracleVerdict:
    return asyncio.run(judge(parse_oracle(specification), record, PythonLogs()))


def answer(specification: str, record: RoundRecord) -> str:
    return str(ask(specification, record).answer)


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


# The checks.


def test_a_line_of_the_log_is_found_and_shown(tmp_path):
    record = a_round(tmp_path, "all well\n\x1b[31mERROR\x1b[0m queue lost\n")
    assert ask("log:^ERROR .*lost$", record) == OracleVerdict(OracleAnswer.YES, "run.log:2: ERROR queue lost")
    assert answer("log:well.*lost", record) == "no"  # not over lines
    assert answer("missing:shut down", record) == "yes"
    assert answer("missing:all well", record) == "no"


def test_bytes_that_are_no_text_do_not_disturb(tmp_path):
    record = a_round(tmp_path)
    (tmp_path / "run.log").write_bytes(b"\xff\xfe\x00 caf\xe9\n" + "grüße lost\n".encode())
    assert answer("log:grüße lost", record) == "yes"


def test_a_log_that_was_cut_off_proves_no_absence(tmp_path):
    record = a_round(tmp_path, "first\n", ended=Ending.FLOODED)
    assert answer("log:first", record) == "yes"
    assert answer("log:second", record) == "cannot tell"
    assert answer("missing:second", record) == "cannot tell"
    assert answer("missing:first", record) == "no"
    assert answer("exit:!0", record) == "cannot tell"


def test_log_files_and_output_are_both_searched(tmp_path):
    record = a_round(tmp_path, "printed\n")
    (tmp_path / "app.log").write_text("logged\n")
    record = replace(record, logs=(tmp_path / "app.log", tmp_path / "not written"))
    assert answer("log:printed and log:logged", record) == "yes"


TRACEBACK = """Traceback (most recent call last):
  File "/app/a.py", line 3, in f
    g()
    ^^^
{}
"""
GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "/app/a.py", line 3, in <module>
  |     f()
  | ExceptionGroup: several (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/app/a.py", line 1, in <module>
    |     g()
    | redis.exceptions.ConnectionError: reset
    +---------------- 2 ----------------
    | KeyError: 'k'
    +------------------------------------
"""


@pytest.mark.parametrize(
    "output",
    [
        TRACEBACK.format("redis.exceptions.ConnectionError: Error 104: reset"),
        "Exception in thread Thread-1 (run):\n" + TRACEBACK.format("redis.exceptions.ConnectionError: reset\nmore"),
        TRACEBACK.format("ValueError\n\nDuring handling of the above exception, another exception occurred:\n\n")
        + TRACEBACK.format("redis.exceptions.ConnectionError: reset"),
        GROUP,
        "\n".join(
            f"api-1  | {line}" for line in TRACEBACK.format("redis.exceptions.ConnectionError: reset").split("\n")
        ),
        json.dumps({"level": "error", "exc": [TRACEBACK.format("redis.exceptions.ConnectionError: reset")]}) + "\n",
        TRACEBACK.format("12:00:01 INFO other: of another thread\nredis.exceptions.ConnectionError: reset"),
        ">       client.get('k')\nE       redis.exceptions.ConnectionError: reset\n\nlib.py:1: ConnectionError\n",
    ],
)
def test_an_exception_is_recognised_in_any_traceback(tmp_path, output):
    record = a_round(tmp_path, output)
    assert answer("exception:ConnectionError", record) == "yes"
    assert answer("exception:redis.exceptions.ConnectionError: reset$", record) == "yes"
    assert answer("exception:ionError", record) == "no"
    assert answer("exception:ConnectionError: refused", record) == "no"


def test_an_exception_that_is_only_mentioned_does_not_count(tmp_path):
    assert answer("exception:OSError", a_round(tmp_path, "OSError: x\nwill retry after OSError: x\n")) == "no"
    assert answer("exception:OSError", a_round(tmp_path, TRACEBACK.format("KeyError") + "OSError: x\n")) == "no"
    assert answer("exception:builtins.KeyError", a_round(tmp_path, TRACEBACK.format("KeyError"))) == "yes"


@pytest.mark.parametrize(
    ("how", "yes", "no"),
    [
        ({"exit_code": 0}, ["exit:0", "exit:!3"], ["exit:!0", "exit:1", "signal:9", "hang"]),
        ({"exit_code": 3}, ["exit:3", "exit:!0"], ["exit:0", "exit:!3", "signal:3"]),
        ({"signal": 9}, ["exit:!0", "signal:9", "signal:KILL", "signal:sigkill"], ["exit:0", "signal:15", "hang"]),
        ({"ended": Ending.TIMED_OUT}, ["hang", "hang:3s"], ["exit:0", "exit:!0", "signal:9", "hang:9s"]),
        ({"ended": Ending.HUNG}, ["hang", "hang:4000ms"], ["exit:0", "exit:!0", "signal:9", "hang:0.1m"]),
    ],
)
def test_how_a_round_ended_is_told_apart(tmp_path, how, yes, no):
    record = a_round(tmp_path, wall_s=10, silent_s=5, **how)
    assert [answer(text, record) for text in yes] == ["yes"] * len(yes)
    assert [answer(text, record) for text in no] == ["no"] * len(no)


def test_a_time_limit_below_the_silence_to_see_proves_nothing(tmp_path):
    verdict = ask("hang:30s", a_round(tmp_path, ended=Ending.TIMED_OUT, wall_s=10, silent_s=9))
    assert verdict.answer is OracleAnswer.CANNOT_TELL
    assert "too short to see 30s" in verdict.reason


def test_files_are_looked_for_where_the_workload_ran(tmp_path):
    record = a_round(tmp_path)
    (record.work / "deep").mkdir()
    (record.work / "deep" / "state of things.json").write_text('{"lost": ["billing"]}\n')
    yes = [
        "file:deep exists",
        "file:gone.txt missing",
        "file:deep/state of things.json exists",
        r'file:**/state?of?things.json ^."lost": \["billing',
        f"file:{record.work}/deep exists",
    ]
    assert [answer(text, record) for text in yes] == ["yes"] * len(yes)
    no = ["file:deep missing", "file:gone exists", "file:gone x", "file:deep/*.json orders", "file:deep x"]
    assert [answer(text, record) for text in no] == ["no"] * len(no)


def test_a_command_tells_by_its_exit_code_and_its_last_line(tmp_path):
    record = a_round(tmp_path, "queue lost\n")
    (record.work / "state").write_text("lost")
    verdict = ask("command:cat state; grep -c lost $ROUND/run.log", record)
    assert verdict == OracleVerdict(OracleAnswer.YES, "lost1 (exit 0 of `cat state; grep -c lost $ROUND/run.log`)")
    assert answer("command:grep -q found state", record) == "no"
    assert answer("command:grep -q lost no-such-file", record) == "cannot tell"  # grep says 2
    assert answer("command:no-such-program", record) == "cannot tell"
    assert answer("command:'kill -9 $$'", record) == "cannot tell"


def test_a_command_whose_script_crashes_cannot_tell(tmp_path):
    script = tmp_path / "oracle.py"
    script.write_text("import sys\nsys.exit(0 if sys.argv[2] == 'yes' else 1)\n")
    record = a_round(tmp_path)
    assert answer(f'command:"{sys.executable} {script} $ROUND yes"', record) == "yes"
    assert answer(f'command:"{sys.executable} {script} $ROUND no"', record) == "no"
    assert answer(f'command:"{sys.executable} {script} $ROUND"', record) == "cannot tell"


def test_a_python_function_gets_how_the_round_ended(tmp_path):
    (tmp_path / "checks.py").write_text(
        "from pathlib import Path\n"
        "def lost(run): return 'lost' in Path(run['logs'][0]).read_text()\n"
        "def code(run): return run['exit'] == 3, f'exit {run[\"exit\"]}'\n"
        "def wrong(run): return 'yes'\n"
        "def broken(run): return run['no such key']\n"
        "def leaves(run): raise SystemExit(0)\n"
    )
    record = a_round(tmp_path, "queue lost\n", exit_code=3)
    checks = tmp_path / "checks.py"
    assert answer(f"python:{checks}::lost", record) == "yes"
    assert ask(f"python:{checks}::code", record) == OracleVerdict(OracleAnswer.YES, "exit 3")
    for function in ("wrong", "broken", "leaves", "absent"):
        assert answer(f"python:{checks}::{function}", record) == "cannot tell"
    assert answer(f"python:{tmp_path}/none.py::f", record) == "cannot tell"


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
