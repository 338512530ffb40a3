"""Outputs are shortened, but as the runners print them."""

from cutset.reproduce.jvm.runner_output import without_decoration

FRAME = "at org.shop.JournalTest.appends(JournalTest.java:20)"
LOGGED = "2026-11-18 12:00:00,000 INFO  [main] org.shop.Shop: tick"


def plain(lines):
    return [line for _, line in without_decoration(lines)]


def test_what_no_runner_printed_stays_with_its_numbers():
    lines = ["OK (3 tests)", "[INFO] started", LOGGED]
    assert list(without_decoration(lines)) == list(enumerate(lines, start=1))


def test_junit_4_puts_dots_before_lines_of_the_program():
    output = ["JUnit version 4.13", f".{LOGGED}", ".E", "Time: 1.2", "There was 1 failure:",
              "1) appends(org.shop.JournalTest)", "java.lang.AssertionError: two", f"\t{FRAME}",
              "", "FAILURES!!!", "Tests run: 2,  Failures: 1"]  # fmt: skip
    assert plain(output) == [
        LOGGED,
        "java.lang.AssertionError: two",
        f"\t{FRAME}",
        "",
    ]


def test_junits_console_indents_what_was_thrown():
    output = [LOGGED, "Thanks for using JUnit! Support its development at https://junit.org/sponsoring", "╷",
              "├─ JUnit Jupiter ✔", "│  └─ JournalTest ✔", "Failures (1):", "  JUnit Jupiter:JournalTest:appends()",
              "    MethodSource [className = 'org.shop.JournalTest', methodName = 'appends']",
              "    => java.lang.AssertionError: two", "       org.shop.JournalTest.appends(JournalTest.java:20)",
              "Test run finished after 64 ms", "[         3 containers found      ]"]  # fmt: skip
    assert plain(output) == [
        LOGGED,
        "java.lang.AssertionError: two",
        "       org.shop.JournalTest.appends(JournalTest.java:20)",
    ]


def test_surefire_is_told_from_the_program():
    output = ["[INFO] Scanning for projects...", "[INFO]  T E S T S", "[INFO] Running org.shop.JournalTest", LOGGED,
              "[ERROR] appends  Time elapsed: 0.1 s  <<< FAILURE!", "java.lang.AssertionError: two",
              "[INFO] BUILD FAILURE"]  # fmt: skip
    assert plain(output) == [LOGGED, "java.lang.AssertionError: two"]


def test_gradle_indents_all_that_a_test_prints():
    output = ["> Task :test FAILED", "", "JournalTest > appends() STANDARD_OUT", f"    {LOGGED}", "",
              "JournalTest > appends() FAILED", "    java.lang.AssertionError: two",
              f"        {FRAME}", "", "1 test completed, 1 failed"]  # fmt: skip
    assert [line for line in plain(output) if line] == [
        LOGGED,
        "java.lang.AssertionError: two",
        f"    {FRAME}",
    ]
