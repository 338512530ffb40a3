"""On what the installed pytest prints of a small shop, in its styles."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.samples.small_programs import read_python_log

from cutset.model.reproduction.log import LogRecord
from cutset.reproduce.python.pytest_output import without_decoration
from cutset.reproduce.python.source import read_program
from cutset.reproduce.python.tracebacks import index_source, origins

BANK = """
import logging
log = logging.getLogger(__name__)

class Bank:
    def pay(self, amount):
        log.info("paying %s", amount)
        try:
            self.send(amount)
        except OSError as error:
            log.error("cannot pay")
            raise RuntimeError(f"payment of {amount} failed\\nask the bank") from error

    def send(self, amount):
        if amount > 2:
            self.transmit(
                amount,
            )

    def transmit(self, amount):
        raise ConnectionResetError(104, "Connection reset by peer")
"""
TESTS = """
import threading, pytest
from shop.bank import Bank

def test_small():
    Bank().pay(1)

def test_large():
    print("starting")
    Bank().pay(5)

def test_equal():
    assert 1 + 1 == 3

@pytest.fixture
def broken():
    Bank().transmit(1)

def test_fixture(broken):
    pass

def test_thread():
    thread = threading.Thread(target=Bank().transmit, args=[1], name="payer")
    thread.start()
    thread.join()
"""
SENT, PAID = 'raise ConnectionResetError(104, "Connection reset by peer")', "raise RuntimeError("


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "shop").mkdir()
    (folder / "shop/__init__.py").touch()
    (folder / "shop/bank.py").write_text(BANK)
    (folder / "test_bank.py").write_text(TESTS)
    return folder


def printed(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir=.", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(BANK.splitlines(), start=1) if text in line)


def messages(records: list[LogRecord]) -> list[str]:
    return [f"{record.logger}: {record.message}" if record.logger else record.message for record in records]


@pytest.mark.parametrize("style", ["auto", "long", "short", "native"])
def test_failures_are_tracebacks_and_nothing_else_but_what_the_program_said_is_left(folder: Path, style: str) -> None:
    output = printed(folder, f"--tb={style}", "test_bank.py")

    records = read_python_log(output)

    assert messages(records) == [
        "Unhandled exception at setup of test_fixture:",
        "Unhandled exception in test_large:",
        "starting",
        "shop.bank: cannot pay",
        "Unhandled exception in test_equal:",
        "Exception in thread payer",
    ]
    assert [output.split("\n")[record.line - 1].strip("_ ") for record in records[:3]] == [
        "ERROR at setup of test_fixture",
        "test_large",
        "starting",
    ]
    source = index_source(read_program(["shop"], [str(folder)]))
    assert [[(one.line, one.type) for one in origins(record, source)] for record in records] == [
        [(line_of(SENT), "ConnectionResetError")],
        [(line_of(SENT), "ConnectionResetError"), (line_of(PAID), "RuntimeError")],
        [],
        [],
        [],
        [(line_of(SENT), "ConnectionResetError")],
    ]
    assert records[4].traceback[0] == "Traceback (most recent call last):"
    assert "AssertionError: assert (1 + 1) == 3" in records[4].traceback


def test_a_traceback_is_as_python_prints_it(folder: Path) -> None:
    (record,) = [
        each for each in read_python_log(printed(folder, "--tb=short", "test_bank.py::test_large")) if each.traceback
    ]

    assert (
        "\n".join(record.traceback).strip()
        == f"""\
Traceback (most recent call last):
  File "shop/bank.py", line 9, in pay
    self.send(amount)
  File "shop/bank.py", line 16, in send
    self.transmit(
  File "shop/bank.py", line {line_of(SENT)}, in transmit
    {SENT}
ConnectionResetError: [Errno 104] Connection reset by peer

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "test_bank.py", line 10, in test_large
    Bank().pay(5)
  File "shop/bank.py", line {line_of(PAID)}, in pay
    raise RuntimeError(f"payment of {{amount}} failed\\nask the bank") from error
RuntimeError: payment of 5 failed
  ask the bank"""
    )


@pytest.mark.parametrize("options", [["-q"], ["-v"], ["-v", "-s"]])
def test_live_logs_are_read_once(folder: Path, options: list[str]) -> None:
    live = ["-o", "log_cli=true", "-o", "log_cli_level=INFO"]

    records = read_python_log(
        printed(folder, *options, *live, "--tb=short", "test_bank.py::test_small", "test_bank.py::test_large")
    )

    logged = [each for each in messages(records) if each not in ("starting", "Unhandled exception in test_large:")]
    assert logged == ["shop.bank: paying 1", "shop.bank: paying 5", "shop.bank: cannot pay"]
    assert len(records) == len(logged) + 2


@pytest.mark.parametrize("options", [[], ["-q"], ["-v"], ["-v", "-s"]])
def test_of_tests_that_pass_nothing_is_left(folder: Path, options: list[str]) -> None:
    assert read_python_log(printed(folder, *options, "test_bank.py::test_small")) == []


def test_where_failures_are_not_shown_the_summary_names_them(folder: Path) -> None:
    (message,) = messages(read_python_log(printed(folder, "--tb=no", "test_bank.py::test_large")))

    assert message.startswith("FAILED test_bank.py::test_large")


def test_what_is_not_of_pytest_is_left_alone() -> None:
    lines = ["=== step 1 ===", "E   = 5", "a.py:3: in f", "", "___ x ___"]

    assert without_decoration(lines) == list(enumerate(lines, start=1))
