import json
import sys
from dataclasses import replace

import pytest
from tests.samples.judged_rounds import a_round, answer, ask

from cutset.model.reproduction.event import OracleAnswer
from cutset.process.keeper import Ending
from cutset.reproduce.oracle.symptoms import OracleVerdict


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
