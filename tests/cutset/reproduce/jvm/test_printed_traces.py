"""Traces are written down here as `Throwable.printStackTrace`, logback and log4j 2 print them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutset.reproduce.jvm.printed_traces import (
    PrintedException,
    PrintedFrame,
    begins_thread,
    frame_of,
    named_at_end,
    names_exception,
    printed_exceptions,
)

COMMIT = PrintedFrame("org.shop.Journal", "commit", "Journal.java", 41)
FLUSH = PrintedFrame("org.shop.Writer", "flush", "Writer.java", 17)
RUN = PrintedFrame("org.shop.Writer", "run", "Writer.java", 9)


@pytest.mark.parametrize(
    ("line", "owner", "method", "file", "number"),
    [
        ("\tat org.shop.Journal.commit(Journal.java:41)", "org.shop.Journal", "commit", "Journal.java", 41),
        ("at org.shop.Journal.<init>(Journal.java:8)", "org.shop.Journal", "<init>", "Journal.java", 8),
        ("\tat java.base/java.lang.Thread.run(Thread.java:840)", "java.lang.Thread", "run", "Thread.java", 840),
        ("\tat app//java.base@17/java.lang.Thread.run(Thread.java:8)", "java.lang.Thread", "run", "Thread.java", 8),
        ("\tat app//org.shop.Journal.commit(Journal.java:41)", "org.shop.Journal", "commit", "Journal.java", 41),
        ("    at org.shop.Disk.sync(Native Method) ~[?:1.8.0_292]", "org.shop.Disk", "sync", "", 0),
        ("\tat a.B$C.lambda$run$0(B.java:3) ~[shop-1.2.jar:1.2]", "a.B$C", "lambda$run$0", "B.java", 3),
        ("\tat a.B.x(Unknown Source) [na:na]", "a.B", "x", "", 0),
        ("\tat shop.Api.$anonfun$send$1(Api.scala:120)", "shop.Api", "$anonfun$send$1", "Api.scala", 120),
        ("         org.shop.ATest.appends(ATest.java:20)", "org.shop.ATest", "appends", "ATest.java", 20),
    ],
)  # fmt: skip
def test_a_frame_is_read_however_it_is_decorated(line, owner, method, file, number):
    assert frame_of(line) == (owner, method, file, number)


def test_prose_is_no_frame():
    assert frame_of("called twice (see above)") is None
    assert frame_of("at noon we stop (as always)") is None
    assert frame_of("org.shop.Journal.commit(Journal.java:41)", inside=False) is None


def test_the_root_cause_comes_first_with_the_frames_that_its_trace_leaves_out():
    lines = [
        "java.lang.IllegalStateException: cannot commit",
        "\tat org.shop.Writer.flush(Writer.java:17)",
        "\tat org.shop.Writer.run(Writer.java:9)",
        "Caused by: java.io.IOException: No space left on device",
        "\tat org.shop.Journal.commit(Journal.java:41)",
        "\t... 2 more",
    ]
    assert printed_exceptions(lines) == [
        PrintedException("java.io.IOException", "No space left on device", (COMMIT, FLUSH, RUN)),
        PrintedException("java.lang.IllegalStateException", "cannot commit", (FLUSH, RUN)),
    ]


def test_what_is_wrapped_is_read_with_the_root_cause_first_too():
    lines = [
        "java.io.IOException: No space left on device",
        "\tat org.shop.Journal.commit(Journal.java:41)",
        "\t... 1 common frames omitted",
        "Wrapped by: java.lang.IllegalStateException: cannot commit",
        "\tat org.shop.Writer.flush(Writer.java:17)",
        "\tat org.shop.Writer.run(Writer.java:9)",
    ]
    assert [(one.type, one.frames) for one in printed_exceptions(lines)] == [
        ("java.io.IOException", (COMMIT, RUN)),
        ("java.lang.IllegalStateException", (FLUSH, RUN)),
    ]


def test_what_was_suppressed_comes_after_the_causes_and_may_have_causes_of_its_own():
    lines = [
        "a.AException: one",
        "\tat org.shop.Writer.flush(Writer.java:17)",
        "\tat org.shop.Writer.run(Writer.java:9)",
        "\tSuppressed: a.BException: two",
        "\t\tat org.shop.Journal.commit(Journal.java:41)",
        "\t\t... 1 more",
        "\tCaused by: a.CException",
        "\t\tat org.shop.Journal.commit(Journal.java:41)",
        "\t\t... 2 more",
        "Caused by: a.DException: four",
        "\tat org.shop.Journal.commit(Journal.java:41)",
        "\t... 1 more",
    ]
    found = printed_exceptions(lines)
    assert [one.type for one in found] == ["a.DException", "a.CException", "a.BException", "a.AException"]
    assert found[0].frames == (COMMIT, RUN)
    assert found[2].frames == (COMMIT, RUN)


def test_a_message_of_several_lines_is_one_message():
    (found,) = printed_exceptions(["a.AException: one", "two", "", "\tat org.shop.Writer.run(Writer.java:9)"])
    assert found == PrintedException("a.AException", "one\ntwo", (RUN,))


def test_the_stack_of_a_process_that_answered_is_told_from_that_of_the_one_that_asked():
    lines = [
        "org.apache.hadoop.ipc.RemoteException(java.io.FileNotFoundException): gone",
        "\tat org.shop.Journal.commit(Journal.java:41)",
        "",
        "\tat org.shop.Writer.run(Writer.java:9)",
    ]
    assert printed_exceptions(lines) == [
        PrintedException("java.io.FileNotFoundException", "gone", (COMMIT,)),
        PrintedException("org.apache.hadoop.ipc.RemoteException", "gone", (RUN,)),
    ]


def test_a_circular_reference_is_no_end():
    lines = ["a.AException", "\tat org.shop.Writer.run(Writer.java:9)", "Caused by: [CIRCULAR REFERENCE: a.AException]"]
    assert [one.type for one in printed_exceptions(lines)][-1] == "a.AException"


def test_exceptions_are_told_from_what_only_looks_like_them():
    assert names_exception("java.io.IOException: full")
    assert names_exception(
        "org.apache.zookeeper.KeeperException$ConnectionLossException: KeeperErrorCode = Lost for /x"
    )
    assert names_exception("org.apache.hadoop.ipc.RemoteException(java.io.IOException): File could only be")
    assert names_exception("NegativeBalanceException")
    assert not names_exception("Error: could not open")
    assert not names_exception("java.io.IOException was thrown")
    assert not names_exception("org.shop.Journal: opened")


def test_an_exception_at_the_end_of_a_line_is_found_and_one_in_its_midst_is_not():
    line = "cannot commit: java.io.IOException: full"
    assert named_at_end(line) == line.index("java")
    assert named_at_end("\tat org.apache.zookeeper.KeeperException.create(KeeperException.java:51)") is None


def test_no_frame_comes_after_that_of_the_threads_beginning():
    assert begins_thread("\tat java.base/java.lang.Thread.run(Thread.java:840)")
    assert begins_thread("\tat org.shop.Shop.main(Shop.java:8)")
    assert begins_thread("\t... 12 more")
    assert not begins_thread("\tat org.shop.Writer.run(Writer.java:9)")  # a pool may have called it


LINES = ["a.AException: x", "\tat a.B.c(B.java:1)", "Caused by: a.CException", "\t... 3 more", "text", ""]
RELATED = ["\tSuppressed: a.DException: y", "Wrapped by: a.EException"]


@given(st.lists(st.sampled_from([*LINES, *RELATED]), max_size=12))
def test_any_lines_can_be_read_and_no_frame_is_made_up(lines):
    for exception in printed_exceptions(lines):
        assert set(exception.frames) <= {PrintedFrame("a.B", "c", "B.java", 1)}
