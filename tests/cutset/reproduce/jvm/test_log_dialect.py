import pytest

from cutset.reproduce.jvm.log_dialect import JvmLogs
from cutset.reproduce.logs.reading import formats_of, read_log

LOGS = JvmLogs()
TRACE = [
    "java.lang.IllegalStateException: cannot commit",
    "\tat org.shop.Writer.flush(Writer.java:17)",
    "\tat org.shop.Writer.run(Writer.java:9)",
    "Caused by: java.io.IOException: No space left on device",
    "\tat org.shop.Journal.commit(Journal.java:41)",
    "\t... 1 more",
]
LOGGED = "2024-01-01 12:00:00,000 INFO  [main] org.shop.Shop: tick"
FAILED = "2024-01-01 12:00:00,000 ERROR [Writer-1] org.shop.Writer: stopped"


def read(lines):
    return read_log(lines, formats_of(lines, dialect=LOGS), dialect=LOGS)


def test_a_trace_belongs_to_the_message_above_whatever_its_level():
    harmless, failed = read([LOGGED, *TRACE, FAILED, *TRACE])
    assert harmless.traceback == failed.traceback == tuple(TRACE)
    assert failed.raised == "java.io.IOException raised in Journal.commit"
    assert failed.reason == "No space left on device"


@pytest.mark.parametrize("at", [1, 2, 4, 5])
def test_a_trace_that_lines_of_other_threads_come_between_is_put_together(at):
    failed, *others = read([FAILED, *TRACE[:at], LOGGED, LOGGED, *TRACE[at:], LOGGED])
    assert failed.traceback == tuple(TRACE)
    assert [record.traceback for record in others] == [()] * 3


def test_a_trace_in_the_midst_of_another_is_told_apart():
    inner = ["a.AException: x", "\tat a.B.c(B.java:1)", "\tat java.lang.Thread.run(Thread.java:2)"]
    failed, other = read([FAILED, *TRACE[:2], LOGGED, *inner, *TRACE[2:]])
    assert failed.traceback == tuple(TRACE)
    assert other.traceback == tuple(inner)


def test_last_words_of_a_thread_are_an_event_of_that_thread():
    _, uncaught = read([LOGGED, f'Exception in thread "Writer-1" {TRACE[0]}', *TRACE[1:]])
    assert (uncaught.thread, uncaught.message) == ("Writer-1", 'Exception in thread "Writer-1"')
    assert uncaught.traceback == tuple(TRACE)


def test_an_exception_that_a_message_ends_with_is_that_of_the_frames_below():
    (record,) = read([f"{FAILED} by {TRACE[0]}", *TRACE[1:]])
    assert (record.message, record.traceback) == ("stopped by", tuple(TRACE))


def test_a_message_of_an_exception_may_have_several_lines():
    lines = ["java.io.IOException: cannot read", "block 7", "", "of 9", *TRACE[1:]]
    first, second = read([FAILED, *lines, LOGGED])
    assert (first.traceback, second.message) == (tuple(lines), "tick")
    assert first.raised == "java.io.IOException raised in Journal.commit"


def test_plain_output_after_a_trace_is_no_part_of_it():
    first, second = read([FAILED, *TRACE, "Done."])
    assert (first.traceback, second.message) == (tuple(TRACE), "Done.")


def test_two_line_records_of_java_util_logging_are_one():
    log = ["Nov 18, 2026 1:02:03 PM org.shop.Shop open", "SEVERE: cannot open", *TRACE,
           "Nov 18, 2026 1:02:04 PM org.shop.Shop close", "INFO: closed"]  # fmt: skip
    first, second = read(log)
    assert (first.level, first.logger, first.message) == ("ERROR", "org.shop.Shop", "cannot open")
    assert first.traceback == tuple(TRACE)
    assert (second.line, second.level, second.message) == (9, "INFO", "closed")


def test_what_the_jvm_says_of_its_options_is_left_out():
    noise = [
        "Picked up JAVA_TOOL_OPTIONS: -javaagent:/x/y.jar=/tmp/plan.json",
        "OpenJDK 64-Bit Server VM warning: Sharing is only supported for boot loader classes",
        "WARNING: An illegal reflective access operation has occurred",
    ]
    assert LOGS.undecorated([*noise, LOGGED, "WARNING: the disk is full"]) == [
        (4, LOGGED),
        (5, "WARNING: the disk is full"),
    ]


def test_exceptions_of_an_output_are_those_of_its_traces_with_their_causes():
    output = [LOGGED, f"{FAILED} java.io.IOException: only said", *TRACE, 'Exception in thread "main" a.BException: y']
    places = [str(number) for number in range(len(output))]
    assert list(LOGS.exceptions(zip(places, output, strict=True))) == [
        ("2", "java.lang.IllegalStateException", "cannot commit"),
        ("5", "java.io.IOException", "No space left on device"),
        ("8", "a.BException", "y"),
    ]


def test_exceptions_are_found_behind_a_containers_name_and_in_json():
    prefixed = [("1", f"api-1  | {line}") for line in TRACE]
    in_json = [("2", '{"level":"ERROR","stack_trace":"a.BException: y\\n\\tat a.B.c(B.java:1)\\n"}')]
    assert [(where, kind) for where, kind, _ in LOGS.exceptions([*prefixed, *in_json])] == [
        ("1", "java.lang.IllegalStateException"),
        ("1", "java.io.IOException"),
        ("2", "a.BException"),
    ]


def test_the_main_of_a_launcher_is_part_of_the_trace_that_goes_through_it():
    launched = [*TRACE[:2], "\tat org.shop.Shop.main(Shop.java:8)", "\tat org.launch.Launcher.main(Launcher.java:3)"]
    failed, other = read([FAILED, *launched, LOGGED])
    assert (failed.traceback, other.message) == (tuple(launched), "tick")
