import json

import pytest

from cutset.reproduce.python.log_dialect import PythonLogs

LOGS = PythonLogs()
TRACE = [
    "Traceback (most recent call last):",
    '  File "/a/b.py", line 3, in save',
    "    write()",
    "OSError: full",
]
CHAINED = [*TRACE[:3], "KeyError: 'a'", "", "During handling of the above exception, another exception occurred:", ""]


def exceptions(*lines: str) -> list[tuple[str, str, str]]:
    return list(LOGS.exceptions((f"run.log:{number}", line) for number, line in enumerate(lines, 1)))


def test_of_a_trace_its_last_exception_and_who_raised_it_count():
    assert LOGS.raised(TRACE) == ("OSError raised in save", "full")
    assert LOGS.raised([*CHAINED, *TRACE]) == ("OSError raised in save", "full")
    assert LOGS.raised(["no trace"]) == ("", "")


def test_a_trace_goes_on_until_its_exception_was_named():
    assert LOGS.begins_trace(TRACE[0])
    for number in range(1, len(TRACE)):
        assert LOGS.continues_trace(TRACE[:number], TRACE[number], formatted=True)
    assert LOGS.continues_trace(TRACE, "and a second line of its message", formatted=True)
    assert not LOGS.continues_trace([*TRACE, ""], "something else", formatted=True)
    assert not LOGS.continues_trace(TRACE, "plain output", formatted=False)


def test_a_torn_trace_goes_on_with_what_comes_next_in_it():
    for number in range(1, len(TRACE)):
        assert LOGS.resumes_trace(TRACE[:number], TRACE[number])
    assert LOGS.resumes_trace(TRACE[:3], "    ~~~~~^^")
    assert not LOGS.resumes_trace(TRACE[:3], "    a table")
    assert not LOGS.resumes_trace(TRACE[:3], "Done: 3")
    assert not LOGS.resumes_trace(TRACE[:1], "OSError: full")  # of what?
    assert not LOGS.resumes_trace(TRACE, TRACE[1])
    assert LOGS.resumes_trace(CHAINED, TRACE[0])


def test_a_trace_of_loguru_marks_where_it_was_caught():
    trace = [
        TRACE[0],
        "",
        TRACE[1],
        "    write()",
        "",
        '> File "/a/c.py", line 9, in main',
        "    └ <function>",
        "",
        TRACE[3],
    ]
    for number in range(1, len(trace)):
        assert LOGS.continues_trace(trace[:number], trace[number], formatted=True)
    assert LOGS.raised(trace) == ("OSError raised in main", "full")


def test_the_trace_of_the_consequence_is_more_of_the_same_one():
    assert LOGS.continues_trace(CHAINED, TRACE[0], formatted=True)
    assert not LOGS.continues_trace(TRACE, TRACE[0], formatted=True)


@pytest.mark.parametrize(
    ("line", "thread"),
    [
        ("Exception in thread worker-3:", "worker-3"),
        ("Process SpawnProcess-1:", "SpawnProcess-1"),
        ("Exception ignored in: <function f>", ""),
        ("Unhandled exception in event loop", ""),
        ("an exception in thread 3", None),
    ],
)
def test_last_words_are_announced(line: str, thread: str | None):
    assert LOGS.uncaught(line) == thread


def test_dots_of_a_test_runner_are_left_out_before_a_time():
    assert LOGS.undecorated(["..F2026-11-16 03:00:00,001 INFO up", "...and so on"]) == [
        (1, "2026-11-16 03:00:00,001 INFO up"),
        (2, "...and so on"),
    ]


@pytest.mark.parametrize(
    "lines",
    [
        TRACE,
        [f"api-1  | {line}" for line in TRACE],
        [*TRACE[:2], "2026-11-16 INFO of another thread", *TRACE[2:]],
        [json.dumps({"message": "lost", "exc_info": "\n".join(TRACE)})],
        ["    def save():", ">       write()", "E       OSError: full"],
        ["  + Exception Group Traceback (most recent call last):", "  |   File x", "  | OSError: full"],
    ],
)
def test_exceptions_are_found_however_they_are_printed(lines: list[str]):
    assert [found[1:] for found in exceptions(*lines)][-1] == ("OSError", "full")


def test_what_is_no_trace_has_no_exception():
    assert exceptions("OSError: full", "{broken json Traceback (most recent call last):") == []
