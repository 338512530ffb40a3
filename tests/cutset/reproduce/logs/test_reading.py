import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.small_programs import read_python_log

from cutset.reproduce.logs.values import sanitise

TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "/srv/app/store.py", line 12, in save',
    "    self.file.write(data)",
    "OSError: [Errno 28] No space left on device",
]


def test_a_traceback_belongs_to_the_error_before_it():
    log = ["2024-01-01 12:00:00 ERROR [T] app: cannot save", *TRACEBACK, "2024-01-01 12:00:01 INFO [T] app: next"]
    first, second = read_python_log(log)
    assert first.traceback == tuple(TRACEBACK)
    assert (second.line, second.message, second.traceback) == (6, "next", ())


def test_a_cause_without_frames_is_part_of_the_traceback_that_follows():
    cause = ["OSError: no space", "", "During handling of the above exception, another exception occurred:", ""]
    (record,) = read_python_log(["2026-11-16 10:00:00,000 ERROR app: cannot write", *cause, *TRACEBACK])
    assert record.message == "cannot write"
    assert record.traceback == (TRACEBACK[0], *cause, *TRACEBACK)


def test_chained_exceptions_and_their_long_messages_are_one_traceback():
    chain = [*TRACEBACK, "", "During handling of the above exception, another exception occurred:", "", *TRACEBACK]
    more = ["[SQL: UPDATE jobs]", "(Background on this error at: https://example.org)"]
    (record,) = read_python_log(["ERROR:app:cannot save", *chain, *more])
    assert record.traceback == (*chain, *more)


def test_what_asyncio_says_before_a_traceback_belongs_to_its_message():
    log = [
        "2024-01-01 12:00:00 INFO [MainThread] app: started",
        "2024-01-01 12:00:00 ERROR [MainThread] asyncio: Task exception was never retrieved",
        "future: <Task finished name='Task-2' coro=<work() done>>",
        *TRACEBACK,
    ]
    _, record = read_python_log(log)
    assert record.message.split("\n")[1].startswith("future:")
    assert record.traceback == tuple(TRACEBACK)


def test_a_traceback_after_a_harmless_message_is_an_event_of_its_own():
    log = ["2024-01-01 12:00:00 INFO [T] app: saving", *TRACEBACK]
    message, uncaught = read_python_log(log)
    assert (message.traceback, uncaught.line, uncaught.logger) == ((), 2, "")
    assert uncaught.traceback == tuple(TRACEBACK)


def test_an_uncaught_exception_of_a_thread_is_an_event_of_that_thread():
    log = ["2024-01-01 12:00:00 ERROR [T] app: bad", "Exception in thread Thread-5 (run):", *TRACEBACK]
    _, uncaught = read_python_log(log)
    assert (uncaught.thread, uncaught.logger, uncaught.traceback) == ("Thread-5 (run)", "", tuple(TRACEBACK))


LOGGED = "2024-01-01 12:00:00 INFO [T] app: tick"


@pytest.mark.parametrize("at", range(1, 6))
def test_a_traceback_that_another_threads_lines_come_between_is_put_together(at):
    torn = ["Exception in thread Thread-5 (run):", *TRACEBACK]
    uncaught, *others = read_python_log([*torn[:at], LOGGED, LOGGED, *torn[at:], LOGGED])
    assert (uncaught.thread, uncaught.traceback) == ("Thread-5 (run)", tuple(TRACEBACK))
    assert [(record.message, record.traceback) for record in others] == [("tick", ())] * 3


def test_tracebacks_that_two_threads_print_at_the_same_time_are_told_apart():
    announced = [f"Exception in thread Thread-{number} (run):" for number in (1, 2)]
    both = [line for line in TRACEBACK for _ in range(2)]
    one, other = read_python_log([LOGGED, *announced, *both])[1:]
    assert (one.thread, one.traceback) == ("Thread-1 (run)", tuple(TRACEBACK))
    assert (other.thread, other.traceback) == ("Thread-2 (run)", tuple(TRACEBACK))


def test_a_message_of_several_lines_is_not_taken_for_more_of_a_traceback():
    records = read_python_log([*TRACEBACK, LOGGED, "    a table", "  File of it", LOGGED])
    assert [record.message for record in records] == ["", "tick\n    a table\n  File of it", "tick"]


def test_a_traceback_that_breaks_off_is_not_ended_by_something_much_later():
    records = read_python_log([*TRACEBACK[:3], *[LOGGED] * 60, "KeyError: 7"])
    assert records[0].raised == ""
    assert records[-1].message == "KeyError: 7"


def test_what_asyncio_says_without_a_format_is_one_event():
    log = [LOGGED, "Task exception was never retrieved", "future: <Task finished name='Task-2'>", *TRACEBACK]
    _, record = read_python_log(log)
    assert record.message.split("\n")[1].startswith("future:")
    assert record.traceback == tuple(TRACEBACK)


def test_what_django_says_of_a_request_has_its_traceback():
    _, record = read_python_log([LOGGED, "Internal Server Error: /orders/7", *TRACEBACK])
    assert (record.message, record.traceback) == ("Internal Server Error: /orders/7", tuple(TRACEBACK))


def test_indented_and_unfinished_messages_go_on_but_plain_output_stands_alone():
    log = [
        "loading",
        "2024-01-01 12:00:00 INFO [T] app: settings:",
        "debug=1",
        "2024-01-01 12:00:00 INFO [T] app: table",
        "  one",
        "done",
        "bye",
    ]
    records = read_python_log("\n".join(log) + "\n")
    assert [record.message for record in records] == ["loading", "settings:\ndebug=1", "table\n  one", "done", "bye"]
    assert [record.line for record in records] == [1, 2, 4, 6, 7]


def test_where_all_is_plain_output_each_line_is_a_message():
    records = read_python_log(["adding order-7", " caught an OSError", "", " with message: full"])
    assert [record.message for record in records] == ["adding order-7", " caught an OSError", " with message: full"]


def test_plain_output_after_a_traceback_is_not_taken_for_more_of_it_if_the_log_has_no_format():
    records = read_python_log(["start", *TRACEBACK, "retrying", "ready"])
    assert [record.message for record in records] == ["start", "", "retrying", "ready"]


PIECES = [
    *("2024-01-01 12:00:00 ", "INFO ", "ERROR", "[T] ", "a.b: ", "Traceback (most recent call last):", "  File ", "\n"),
    *(
        '{"msg": "x"}',
        "level=info msg=",
        '"',
        "Exception in thread T:",
        "\x1b[1m",
        "During handling of the above exception",
    ),
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8)).map("".join))
def test_any_text_is_read_and_no_line_of_it_is_lost(text):
    records = read_python_log(text)
    numbers = [record.line for record in records]
    assert numbers == sorted(set(numbers))
    filled = [number for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    shown = sum(
        len(line.strip()) > 0 for record in records for line in (*record.message.split("\n"), *record.traceback)
    )
    assert shown <= len(filled)
    if filled and not any(character in text for character in "\x1b\r"):
        assert numbers[:1] == filled[:1]


@pytest.mark.parametrize("start", ["", "2024-01-01 12:00:00 INFO ", "2024-01-01 12:00:00 - INFO  [", "level=info "])
@pytest.mark.parametrize("piece", ["a", " ", ".", "a:", "a.", "a@", '\\"', "*,", "a/", 'a="', "[", "1.", "a-", "\x1b]"])
def test_long_lines_are_read_in_time_that_is_linear_in_their_length(start, piece):
    text = start + piece * 10_000  # a quadratic expression would take minutes
    assert len(read_python_log(text)) <= 1
    sanitise(text)
