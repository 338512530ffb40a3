import json
import sys

import loguru
import pytest
import structlog
from tests.samples.small_programs import read_python_log

from cutset.reproduce.jvm.log_dialect import JvmLogs
from cutset.reproduce.logs.reading import formats_of, read_log

TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "/srv/app/store.py", line 12, in save',
    "    self.file.write(data)",
    "OSError: [Errno 28] No space left on device",
]


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


def test_a_record_inside_another_is_the_one():
    inner = {"message": "gone", "severity": "ERROR", "order": 7}
    (record,) = read_python_log(json.dumps({"insertId": "a1", "jsonPayload": inner, "timestamp": "now"}))
    assert (record.level, record.message) == ("ERROR", "gone\norder=7")


def test_fields_of_ecs_are_inside_each_other():
    stack = "\n".join(TRACEBACK[1:3])
    error = {"type": "OSError", "message": "[Errno 28] No space left on device", "stack_trace": stack}
    whole = {
        "@timestamp": "now",
        "log.level": "error",
        "message": "cannot save",
        "log": {"logger": "shop", "origin": {"function": "f"}},
        "process": {"pid": 17, "thread": {"id": 1, "name": "T-1"}, "name": "MainProcess"},
        "error": error,
    }
    (record,) = read_python_log(json.dumps(whole))
    assert (record.level, record.logger, record.thread, record.message) == (
        *("ERROR", "shop", "MainProcess/T-1", "cannot save"),
    )
    assert record.traceback == tuple(TRACEBACK)


TRACE = "java.lang.IllegalStateException: cannot commit\n\tat shop.Writer.run(Writer.java:9)\n"
CAUSE = {
    "name": "java.io.IOException",
    "message": "full",
    "commonElementCount": 1,
    "extendedStackTrace": [{"class": "shop.Journal", "method": "commit", "file": "Journal.java", "line": 41}],
}
STEPS = [{"className": "shop.Writer", "methodName": "run", "fileName": "Writer.java", "lineNumber": 9}]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        {
            "level": "ERROR",
            "loggerName": "shop.Writer",
            "thread": "w-1",
            "message": "stopped",
            "instant": {"epochSecond": 1},
            "thrown": {
                "name": "java.lang.IllegalStateException",
                "cause": CAUSE,
                "extendedStackTrace": [{"class": "shop.Writer", "method": "run", "file": "Writer.java", "line": 9}],
            },
        },
        {
            "level": "ERROR",
            "logger_name": "shop.Writer",
            "thread_name": "w-1",
            "message": "stopped",
            "level_value": 40000,
            "stack_trace": f"{TRACE}Caused by: java.io.IOException: full\n\tat shop.Journal.commit(Journal.java:41)\n",
        },
        {
            "level": "ERROR",
            "loggerName": "shop.Writer",
            "threadName": "w-1",
            "message": "{}",
            "formattedMessage": "stopped",
            "mdc": {},
            "throwable": {
                "className": "a.B",
                "stepArray": STEPS,
                "cause": {
                    "className": "java.io.IOException",
                    "message": "full",
                    "commonFramesCount": 1,
                    "stepArray": [
                        {
                            "className": "shop.Journal",
                            "methodName": "commit",
                            "fileName": "Journal.java",
                            "lineNumber": 41,
                        }
                    ],
                },
            },
        },
        {
            "log.level": "ERROR",
            "log.logger": "shop.Writer",
            "process.thread.name": "w-1",
            "message": "stopped",
            "error.type": "java.io.IOException",
            "error.message": "full",
            "error.stack_trace": "\tat shop.Journal.commit(Journal.java:41)\n\tat shop.Writer.run(Writer.java:9)",
        },
        {
            "log.level": "ERROR",
            "log.logger": "shop.Writer",
            "process.thread.name": "w-1",
            "message": "stopped",
            "error.stack_trace": ["java.io.IOException: full", "\tat shop.Journal.commit(Journal.java:41)"],
        },
    ],
    ids=["log4j 2", "logstash", "logback", "ECS", "ECS with a list"],
)
def test_stack_traces_of_java_are_read_from_whatever_field_has_them(line):
    text, dialect = json.dumps(line), JvmLogs()
    (record,) = read_log(text, formats_of(text, dialect=dialect), dialect=dialect)
    assert (record.level, record.logger, record.thread, record.message) == ("ERROR", "shop.Writer", "w-1", "stopped")
    assert (record.raised, record.reason) == ("java.io.IOException raised in Journal.commit", "full")


def test_what_else_a_record_tells_is_below_its_message():
    (record,) = read_python_log(json.dumps({"level": "error", "event": "order lost", "order": 245, "lineno": 3}))
    assert record.message == "order lost\norder=245"


def fail() -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("renderer", ["json", "dicts", "logfmt", "pairs", "console"])
def test_structlog_is_read_as_it_writes(renderer: str, capsys: pytest.CaptureFixture[str]):
    processors = structlog.processors
    chain = {
        "json": [processors.format_exc_info, processors.JSONRenderer()],
        "dicts": [processors.dict_tracebacks, processors.JSONRenderer()],
        "logfmt": [processors.format_exc_info, processors.LogfmtRenderer()],
        "pairs": [processors.format_exc_info, processors.KeyValueRenderer()],
        "console": [structlog.dev.ConsoleRenderer()],
    }[renderer]
    stamp = processors.TimeStamper(fmt="iso")
    log = structlog.wrap_logger(structlog.PrintLogger(sys.stdout), processors=[processors.add_log_level, stamp, *chain])
    log.info("order placed", order=7)
    try:
        fail()
    except OSError:
        log.exception("cannot save", order=7)

    placed, failed = read_python_log(capsys.readouterr().out)
    assert (placed.level, placed.message.split()) == ("INFO", ["order", "placed", "order=7"])
    assert (failed.level, failed.message.split()) == ("ERROR", ["cannot", "save", "order=7"])
    assert failed.raised == "OSError raised in fail"


@pytest.mark.parametrize("serialize", [False, True])
def test_loguru_is_read_as_it_writes(serialize: bool, capsys: pytest.CaptureFixture[str]):
    logger = loguru.logger
    logger.remove()
    number = logger.add(sys.stdout, serialize=serialize)
    try:
        logger.info("order 7 placed")
        try:
            fail()
        except OSError:
            logger.exception("cannot save")
        logger.success("done")
    finally:
        logger.remove(number)

    placed, failed, done = read_python_log(capsys.readouterr().out)
    assert (placed.level, placed.logger, placed.message) == ("INFO", __name__, "order 7 placed")
    assert (failed.level, failed.message, failed.raised) == ("ERROR", "cannot save", "OSError raised in fail")
    assert (done.level, done.message) == ("SUCCESS", "done")
