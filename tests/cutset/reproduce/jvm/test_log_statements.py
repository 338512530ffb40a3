import pytest
from tests.samples.jvm_programs import Log, Type, program_of

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.jvm.log_statements import log_statements, written_by

PROGRAM = program_of(
    {
        "org.shop.server.Journal": Type(
            {
                "open": [Log("opened \x01", "info", "org.shop.server.Journal")],
                "commit": [Log("cannot commit \x01: \x01", "error", "org.shop.server.Journal"), Log("\x01", "error")],
            }
        ),
        "org.shop.client.Journal": Type({"open": [Log("opened \x01", "info", "org.shop.client.Journal")]}),
        "org.shop.Main$Loop": Type(
            {
                "lambda$run$0": [
                    Log("gone \x01", "warn"),
                    Log("bye, \x01", ""),
                    Log(" caught a \x01\n with message: \x01\n", ""),
                ]
            }
        ),
    }
)
STATEMENTS = log_statements(PROGRAM)


def key(message: str, logger: str = "", level: str = "") -> str | None:
    found = written_by(LogRecord(1, "main", logger, level, message), STATEMENTS)
    return found.key if found else None


@pytest.mark.parametrize(
    "logger", ["org.shop.server.Journal", "o.s.server.Journal", "o.s.s.Journal", "server.Journal", "o.~.s.Journal"]
)
def test_a_logger_is_known_by_its_name_however_it_is_abbreviated(logger):
    assert key("opened 7", logger) == "org.shop.server.Journal:1"


def test_of_two_loggers_that_a_name_may_be_the_text_tells():
    assert key("opened 7", "Journal") is not None
    assert key("cannot commit 7: full", "Journal") == "org.shop.server.Journal:101"


def test_another_librarys_logger_is_none_of_the_program():
    assert key("opened 7", "io.netty.Channel") is None


@pytest.mark.parametrize(
    "logger",
    [
        "Main@301",
        "Main$Loop@301",
        "o.s.Main$Loop@301",
        "shop.Main(301)",
        "Main.java:301",
        "org.shop.Main:301",
        "shop.Main (Main.java:lambda$run$0(301))",
        "org.shop.Main$Loop.lambda$run$0(Main.java:301)",
        "org.shop.Main.<clinit>(Main.java:301)",
    ],
)
def test_a_place_that_the_layout_prints_tells_the_statement(logger):
    assert key("gone 7", logger) == "org.shop.Main$Loop:301"


def test_a_place_of_another_version_is_not_believed():
    assert key("gone 7", "Main$Loop@101") == "org.shop.Main$Loop:301"
    assert key("opened 7", "Journal@301") == "org.shop.server.Journal:1"


def test_a_message_that_is_not_known_is_found_by_its_place_alone():
    assert key("whatever", "Journal@102", "ERROR") == "org.shop.server.Journal:102"
    assert key("whatever", "", "ERROR") is None


def test_what_a_logger_puts_before_each_message_is_no_part_of_it():
    assert key("[Broker id=1] [to 7] gone 7", "org.shop.Main") == "org.shop.Main$Loop:301"
    assert key("task [0_1] gone 7") == "org.shop.Main$Loop:301"


def test_levels_that_contradict_tell_statements_apart():
    assert key("gone 7", level="WARNING") == "org.shop.Main$Loop:301"
    assert key("gone 7", level="INFO") is None


def test_a_message_that_its_logger_says_at_another_level_is_of_another_version():
    assert key("opened 7", "o.s.server.Journal", "WARN") == "org.shop.server.Journal:1"
    assert key("opened 7", "", "WARN") is None


def test_what_is_printed_is_log_only_if_it_should_be():
    record = LogRecord(1, "", "", "", "bye, you")
    assert written_by(record, STATEMENTS) is None
    found = written_by(record, log_statements(PROGRAM, prints=True))
    assert found is not None
    assert (found.key, found.said_in) == ("org.shop.Main$Loop:302", "Main$Loop.run.lambda")


def test_each_line_that_is_printed_is_a_message():
    statements = log_statements(PROGRAM, prints=True)
    said = [written_by(LogRecord(1, "", "", "", line), statements) for line in (" caught a 7", " with message: 8")]
    assert [found and found.key for found in said] == ["org.shop.Main$Loop:303", "org.shop.Main$Loop:303+1"]
