import json
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.samples.reproduction import FAILURE_LOG, MESSAGES, RUN_LOG, fault, reproduction

from cutset.reproduce.logs import side_by_side as compared
from cutset.reproduce.logs.reading import formats_of
from cutset.reproduce.logs.side_by_side import (
    MOST_LINES,
    ComparedLog,
    compare_logs,
    line_in_failure_log,
    run_text,
    side_by_side,
)
from cutset.reproduce.python.log_dialect import PythonLogs


def log_of(text: str, pattern: str | None = None) -> ComparedLog:
    dialect = PythonLogs()
    return compared.log_of(text, formats_of(text, pattern=pattern, dialect=dialect), dialect)


FAILURE, RUN = log_of(FAILURE_LOG), log_of(RUN_LOG)


def test_an_entry_has_its_traceback() -> None:
    assert [(part.record.line, len(part.lines)) for part in FAILURE.parts] == [
        (1, 1),
        (2, 1),
        (3, 4),
        (7, 1),
        (8, 1),
        (9, 1),
    ]


def test_equal_entries_stand_side_by_side_and_messages_are_marked() -> None:
    rows = side_by_side(FAILURE, RUN, reproduction(Path()))

    lines = [(row.failure and row.failure.record.line, row.run and row.run.record.line) for row in rows]
    assert lines == [(1, 1), (2, 2), (3, 3), (7, 7), (8, 8), (9, None), (None, 9)]
    assert [row.message.line if row.message else 0 for row in rows] == [0, 0, 3, 7, 8, 9, 0]
    assert [row.shows_message for row in rows] == [False, False, True, True, True, False, False]


def test_entries_of_one_logger_and_level_stand_side_by_side_if_their_texts_differ() -> None:
    left, right = (
        log_of(f"2026-11-16 03:00:00,001 ERROR [MainThread] a: {text}\n", None) for text in ("no disk", "no net")
    )

    (row,) = side_by_side(
        left, right, reproduction(Path(), fault(log_lines=0), messages=(replace(MESSAGES[0], line=1),))
    )

    assert row.failure
    assert row.run
    assert row.shows_message


def test_the_fault_is_before_what_was_logged_next() -> None:
    rows = side_by_side(FAILURE, RUN, reproduction(Path()))

    assert [len(row.before) for row in rows] == [0, 0, 1, 0, 0, 0, 0]


def test_a_fault_after_the_last_entry_has_a_row_of_its_own() -> None:
    rows = side_by_side(FAILURE, RUN, reproduction(Path(), fault(log_lines=99)))

    assert (rows[-1].failure, rows[-1].run, len(rows[-1].before)) == (None, None, 1)


def test_the_moment_of_the_fault_is_found_in_the_failure_log() -> None:
    assert line_in_failure_log(fault(log_lines=0), FAILURE, RUN) == 1
    assert line_in_failure_log(fault(log_lines=3), FAILURE, RUN) == 7


def test_the_fault_does_not_come_after_a_message_that_follows_from_it() -> None:
    failure = _log(["INFO a: x", "ERROR b: lost", "INFO a: y", "INFO a: z"])
    run = _log(["INFO a: x", "INFO a: y", "ERROR b: lost", "INFO a: z"])  # of another thread, which was faster
    said = replace(MESSAGES[0], line=2)

    assert line_in_failure_log(fault(log_lines=2), failure, run) == 4
    assert line_in_failure_log(fault(log_lines=2), failure, run, [said]) == 2
    # what the run had said before does not follow from it
    assert line_in_failure_log(fault(log_lines=3), failure, run, [said]) == 4


def test_the_moment_does_not_depend_on_the_process_and_is_not_known_without_a_log() -> None:
    assert line_in_failure_log(fault(log_lines=3, process=1), FAILURE, RUN) == 7
    assert line_in_failure_log(fault(), FAILURE, log_of("", None)) is None


def test_a_very_long_log_keeps_its_ends_and_their_line_numbers() -> None:
    lines = MOST_LINES + 1_000
    log = log_of("".join(f"2026-11-16 03:00:00,001 INFO [MainThread] a: line {n}\n" for n in range(1, lines + 1)), None)

    assert log.left_out == 1_000
    assert log.parts[-1].record.line == lines
    assert log.parts[-1].lines[0].endswith(f"line {lines}")
    assert all(part.lines[0].endswith(f"line {part.record.line}") for part in log.parts)


def test_the_log_of_a_run_is_where_the_round_says(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("printed\n")
    assert run_text(tmp_path) == "printed\n"

    (tmp_path / "app.log").write_text(RUN_LOG)
    (tmp_path / "meta.json").write_text(json.dumps({"logs": [str(tmp_path / "app.log")]}))
    assert run_text(tmp_path) == RUN_LOG


def test_a_run_that_the_users_pattern_does_not_fit_is_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("killed\n")
    found = compare_logs("ERROR lost\n", reproduction(tmp_path), r"(?P<level>[A-Z]+) (?P<message>.*)", PythonLogs())
    assert [row.run.lines for row in found.rows if row.run] == [("killed",)]


def test_a_log_that_is_gone_is_none(tmp_path: Path) -> None:
    assert run_text(tmp_path) is None
    compared_with_none = compare_logs(FAILURE_LOG, reproduction(tmp_path), None, PythonLogs())
    assert not compared_with_none.has_run
    assert [row.failure.record.line for row in compared_with_none.rows if row.failure] == [1, 2, 3, 7, 8, 9]


@given(*[st.lists(st.sampled_from(["INFO a: x", "INFO a: y", "ERROR b: x", "plain"]), max_size=12)] * 2)
def test_each_entry_of_both_logs_is_there_once_and_in_order(left: list[str], right: list[str]) -> None:
    failure, run = (_log(texts) for texts in (left, right))
    rows = side_by_side(failure, run, reproduction(Path()))

    assert [row.failure for row in rows if row.failure] == list(failure.parts)
    assert [row.run for row in rows if row.run] == list(run.parts)


def _log(texts: list[str]) -> ComparedLog:
    return log_of("".join(text if text == "plain" else f"2026-11-16 03:00:00,001 {text}\n" for text in texts), None)
