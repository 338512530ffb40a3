import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.samples.small_programs import read_python_log

from cutset.errors import InputError, UsageError
from cutset.reproduce.logs.reading import sanitise

TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "/srv/app/store.py", line 12, in save',
    "    self.file.write(data)",
    "OSError: [Errno 28] No space left on device",
]


@pytest.mark.parametrize(
    ("line", "thread", "logger", "level", "message"),
    [
        ("2026-11-15 19:29:26,843 DEBUG [MainThread] asyncio: Using it", "MainThread", "asyncio", "DEBUG", "Using it"),
        ("2026-11-15T19:29:26.843Z INFO [T-1 (run)] a.b: hi: there", "T-1 (run)", "a.b", "INFO", "hi: there"),
        ("2026-11-15 19:29:26,843 WARN [io] w.Thread(mail): lost", "io", "w.Thread(mail)", "WARNING", "lost"),
        ("INFO:root:hello world", "", "root", "INFO", "hello world"),
        ("WARNING  app.db:test_db.py:51 slow query", "", "app.db", "WARNING", "slow query"),
        ('INFO:     127.0.0.1:5000 - "GET /" 200 OK', "", "", "INFO", '127.0.0.1:5000 - "GET /" 200 OK'),
        ("[2024-01-01 12:00:00 +0000] [1234] [INFO] Booting worker", "1234", "", "INFO", "Booting worker"),
        ("[2024-01-01 12:00:00,123: ERROR/ForkPoolWorker-1] Failed", "ForkPoolWorker-1", "", "ERROR", "Failed"),
        ("2024-01-01 12:00:00,123 - app.db - ERROR - lost: 3", "", "app.db", "ERROR", "lost: 3"),
        ("2024-01-01 12:00:00.123 | INFO     | __main__:main:12 - hello", "", "__main__", "INFO", "hello"),
        ("2024-01-01 12:00:00 [info     ] user is in   [app.auth] user=5", "", "app.auth", "INFO", "user is in user=5"),
        ("2024-01-01 12:00:00 [scrapy.core] INFO: Spider opened", "", "scrapy.core", "INFO", "Spider opened"),
        ("[2024-01-01 12:00:00,123] CRITICAL in app: down", "", "app", "CRITICAL", "down"),
        ("[E 240101 12:00:00 web:2271] 500 GET /", "", "web", "ERROR", "500 GET /"),
        ("Jan  1 12:00:00 host sshd[123]: session opened", "123", "sshd", "", "session opened"),
        ("1700000000.123 INFO app.x: message", "", "app.x", "INFO", "message"),
        ("INFO  [alembic.runtime.migration] Context impl", "", "alembic.runtime.migration", "INFO", "Context impl"),
        ("2024-01-01 12:00:00.123 ERROR (MainThread) [home.loader] gone", "MainThread", "home.loader", "ERROR", "gone"),
        ("2024-01-01 12:00:00.123 1234 INFO nova.compute [r-1] up", "1234", "nova.compute", "INFO", "[r-1] up"),
        ("2024-01-01 12:00:00.123  INFO 17 --- [main] o.s.X : up", "17/main", "o.s.X", "INFO", "up"),
        ("2024-01-01 12:00:00,1 [pool-1] FATAL com.x.Y - out", "pool-1", "com.x.Y", "CRITICAL", "out"),
        ("2021-08-20 01:05:21,542 [myid:] - INFO  [main:Server@47] - No test", "main", "Server@47", "INFO", "No test"),
        (".2022-05-10 16:25:27,880 - INFO  [x [y:1]:Data$Z@9] - go", "x [y:1]", "Data$Z@9", "INFO", "go"),
        ("12:00:00 INFO starting", "", "", "INFO", "starting"),
        ('time=12:00 level=info msg="hello there" logger=shop thread=T-1', "T-1", "shop", "INFO", "hello there"),
        ("event='order placed' level='error' order=7", "", "", "ERROR", "order placed"),
        ("\x1b[32m2024-01-01 12:00:00\x1b[0m \x1b[1mINFO\x1b[0m [T] a: b", "T", "a", "INFO", "b"),
        ("Loading model...", "", "", "", "Loading model..."),
    ],
)  # fmt: skip
def test_a_line_of_a_common_format_is_read_into_its_fields(line, thread, logger, level, message):
    (record,) = read_python_log(line)
    assert (record.thread, record.logger, record.level, record.message) == (thread, logger, level, message)


def test_json_lines_are_read_by_their_usual_keys():
    lines = [
        json.dumps(
            {"asctime": "now", "levelname": "ERROR", "name": "shop.cart", "message": "gone", "threadName": "T-1"}
        ),
        json.dumps({"severity": "warning", "logger": "x", "event": "slow", "exception": "\n".join(TRACEBACK)}),
        json.dumps({"level": 40, "msg": "late", "pid": 17}),
    ]
    first, second, third = read_python_log("\n".join(lines))
    assert (first.level, first.logger, first.message, first.thread) == ("ERROR", "shop.cart", "gone", "T-1")
    assert (second.level, second.message, second.traceback) == ("WARNING", "slow", tuple(TRACEBACK))
    assert (third.level, third.message, third.thread) == ("ERROR", "late", "17")


def test_a_traceback_belongs_to_the_error_before_it():
    log = ["2024-01-01 12:00:00 ERROR [T] app: cannot save", *TRACEBACK, "2024-01-01 12:00:01 INFO [T] app: next"]
    first, second = read_python_log(log)
    assert first.traceback == tuple(TRACEBACK)
    assert (second.line, second.message, second.traceback) == (6, "next", ())


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


def test_plain_output_after_a_traceback_is_not_taken_for_more_of_it_if_the_log_has_no_format():
    records = read_python_log(["start", *TRACEBACK, "retrying", "ready"])
    assert [record.message for record in records] == ["start", "", "retrying", "ready"]


def test_a_log_with_two_formats_is_read_by_both():
    log = ["2024-01-01 12:00:00 INFO [T] app: one"] * 9 + ["INFO:     Application startup complete."]
    records = read_python_log(log)
    assert [record.logger for record in records] == ["app"] * 9 + [""]
    assert records[-1].message == "Application startup complete."


def test_words_before_a_colon_are_no_loggers_where_most_messages_have_none():
    log = [
        "12:00:01 INFO started",
        "12:00:02 INFO listening on 80",
        "12:00:03 INFO worker: up",
        "12:00:04 INFO stopped",
    ]
    assert {record.logger for record in read_python_log(log)} == {""}


def test_a_pattern_of_the_user_names_the_fields():
    records = read_python_log("<7> cart | boom\n<3> shop | late", r"<\d> (?P<logger>\w+) \| (?P<message>.*)")
    assert [(record.logger, record.message) for record in records] == [("cart", "boom"), ("shop", "late")]


def test_a_pattern_of_the_user_may_start_with_blanks():
    records = read_python_log("   INFO up\nWARNING low\n", r" *(?P<level>[A-Z]+) (?P<message>.*)")
    assert [(record.level, record.message) for record in records] == [("INFO", "up"), ("WARNING", "low")]


def test_a_pattern_that_cannot_work_is_refused_with_the_reason():
    with pytest.raises(UsageError, match="no regular expression"):
        read_python_log("x", "(")
    with pytest.raises(UsageError, match="no group named `message`"):
        read_python_log("x", r"(?P<level>\w+)")
    with pytest.raises(InputError, match="none of 2 lines; the first is 'x'"):
        read_python_log("x\ny", r"\d(?P<message>.*)")


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


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("took 3.5 ms, -1e-05 left", "took * ms, * left"),
        ("worker 3f2a1b9c is up", "worker * is up"),
        ("<Job object at 0x7f38f8d73810>", "<Job object at *>"),
        ("message 3f2a1b9c-abcd-beef-dead-e0116dc3387b lost", "message * lost"),
        ("connected to 127.0.0.1:5000 and [fe80::1]:80", "connected to * and [*]:*"),
        ("found ['lobby', 'floor1'] in {'a': 1}", "found [*] in {*}"),
        ("cannot open /var/lib/x.db or ./y or C:\\z", "cannot open * or * or *"),
        ("GET https://example.org/a?b=c failed", "GET * failed"),
        ("next run at 2026-11-15 19:29:26.958066+00:00 (in 2s)", "next run at * (in *)"),
        ("expires Sat, 15 Nov 2026 19:29:26 GMT", "expires * GMT"),
        ("used 12.5MB of 2 GiB", "used * of * GiB"),
        ("can't reach user's queue 'mail'", "can't reach user's queue *"),
        ("mail to ann@example.org bounced", "mail to * bounced"),
    ],
)
def test_what_differs_between_runs_is_replaced(message, expected):
    assert sanitise(message) == expected


@given(st.integers(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.uuids(), st.uuids())
def test_messages_that_differ_in_values_only_are_the_same(one, other, number, left, right):
    assert sanitise(f"job {left} of {one}: {number!r} s") == sanitise(f"job {right} of {other}: 1.5 s")
