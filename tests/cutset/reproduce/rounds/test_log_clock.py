import asyncio
import sys
from pathlib import Path

import pytest
from tests.samples.small_programs import read_app

from cutset.reproduce.python.front_end import PythonFrontEnd
from cutset.reproduce.rounds.harness import ArmedRound, Workload
from cutset.reproduce.rounds.log_clock import LogMoment, log_clock
from cutset.reproduce.rounds.runner import run_round

APP = "import os\n\ndef visit():\n    os.getpgid(0)\n"
LOG = b"INFO one\nTraceback:\n  x\nINFO two\nplain\n"


def infos(log: str) -> list[int]:
    return [number for number, line in enumerate(log.split("\n"), start=1) if line.startswith("INFO")]


def lines_before_visits(folder: Path, driver: str, *command: str, log: str = "output") -> list[int]:
    """Of a program that imports `visit`; also checks that the log says the same."""
    program = read_app(folder, APP, driver=driver)
    plan = ArmedRound(tuple(enumerate(program.sites)), analysed=[str(folder / "app.py"), str(folder / "drive.py")])
    workload = Workload((sys.executable, *(command or [str(folder / "drive.py")])), 30, log=log)
    record = asyncio.run(run_round(workload, plan, folder / "round", PythonFrontEnd()))
    assert (record.exit_code, record.problems) == (0, ())
    return [visit.log_lines for visit in record.visits]


def test_lines_are_those_that_end_before_a_byte() -> None:
    lines_at = log_clock([], b"a\r\nb\rc\n", infos)
    assert [lines_at(LogMoment(9, printed)) for printed in range(9)] == [0, 0, 1, 1, 1, 2, 2, 3, 3]


def test_what_the_log_shows_only_later_is_counted_in_records() -> None:
    moments = [LogMoment(logged, len(LOG) if logged > 2 else 0) for logged in range(4)]
    lines_at = log_clock(moments[:3], LOG, infos)
    assert [lines_at(moment) for moment in moments] == [0, 3, 5, 5]


def test_records_that_the_log_does_not_show_do_not_count() -> None:
    moments = [LogMoment(logged, 9 * (logged > 2)) for logged in range(9)]
    lines_at = log_clock(moments, LOG, infos)
    assert [lines_at(moment) for moment in moments] == [0] * 3 + [1] * 6


def test_without_bytes_or_a_format_records_are_taken_for_lines() -> None:
    moments = [LogMoment(logged, 0) for logged in range(3)]
    assert [log_clock(moments, b"x\ny\n", infos)(moment) for moment in moments] == [0, 1, 2]


@pytest.mark.parametrize(
    "say",
    [
        "print",
        "lambda text: print(text, file=sys.stderr)",
        "lambda text: sys.stdout.write(text + '\\n')",
        "lambda text: os.write(2, text.encode() + b'\\n')",
        "lambda text: subprocess.run(['echo', text])",
        "logging.getLogger('a').warning",
        "loguru.logger.info",
        "structlog.get_logger().info",
    ],
)
def test_lines_count_whoever_writes_them(tmp_path: Path, say: str) -> None:
    library = say.partition(".")[0] if say.startswith(("loguru", "structlog")) else "logging"
    pytest.importorskip(library)
    driver = f"""
import os, subprocess, sys, logging, {library}
from app import visit
logging.basicConfig(level="DEBUG")
logging.getLogger().handlers[0].setLevel("WARNING")
say = {say}
visit()
say("one")
logging.debug("no handler takes it")
visit()
say("two")
say("three")
visit()
"""
    assert lines_before_visits(tmp_path, driver) == [0, 1, 3]


def test_what_other_processes_write_counts(tmp_path: Path) -> None:
    driver = """
import os, sys
from app import visit
for number in range(3):
    if os.fork() == 0:
        print("child", number)
        visit()
        os._exit(0)
    os.wait()
visit()
"""
    assert sorted(lines_before_visits(tmp_path, driver)) == [1, 2, 3, 3]


def test_a_program_that_closes_all_files_still_has_its_lines_counted(tmp_path: Path) -> None:
    driver = """
import os
from app import visit
visit()
os.closerange(3, 2000)
print("a daemon now")
files = [open("/dev/null") for _ in range(20)]
visit()
"""
    assert lines_before_visits(tmp_path, driver) == [0, 1]


def test_what_pytest_shows_in_the_end_is_placed_by_its_records(tmp_path: Path) -> None:
    test = """
import logging
from app import visit
def test_it():
    visit()
    logging.warning("one")
    visit()
    logging.warning("two")
    visit()
"""
    options = ["-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", str(tmp_path / "drive.py")]
    before, between, after = lines_before_visits(tmp_path, test, *options)
    lines = (tmp_path / "round" / "run.log").read_text().splitlines()
    assert "one" in lines[before]
    assert "two" in lines[between]
    assert after > between > before


def test_log_files_are_placed_by_their_records(tmp_path: Path) -> None:
    driver = """
import logging
from app import visit
logging.basicConfig(filename="run.log", level="INFO")
visit()
try:
    1 / 0
except ZeroDivisionError:
    logging.exception("one")
visit()
logging.info("two")
visit()
"""
    before, between, after = lines_before_visits(tmp_path, driver, log="*.log")
    lines = (tmp_path / "round" / "work" / "run.log").read_text().splitlines()
    assert (before, lines[between], after) == (0, "INFO:root:two", len(lines))
