"""The search for the fault behind a failure, as a user meets it: on the example that the documentation shows."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from cutset.cli.main import app
from cutset.errors import CutsetError

EXAMPLE = Path(__file__).parents[3] / "examples/reproduce"
RUN = f"{shlex.quote(sys.executable)} workload.py"

MISBEHAVIOUR = """
import os, sys, time
match sys.argv[1:]:
    case ["fail"]:
        sys.exit(1)
    case ["sleep"]:
        time.sleep(60)
    case ["die"]:
        os.kill(os.getpid(), 9)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("__pycache__", ".cutset"))
    monkeypatch.chdir(tmp_path / "example")
    monkeypatch.setenv("COLUMNS", "300")
    return tmp_path / "example"


def reproduce(*arguments: str) -> int:
    code = app(["reproduce", "case.yaml", "--run", RUN, *arguments], standalone_mode=False)
    assert isinstance(code, int)
    return code


def searches(folder: Path) -> list[Path]:
    return sorted((folder / ".cutset/reproductions").iterdir())


def test_the_fault_is_found_shown_and_replayed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce("--jobs", "2") == 0

    printed = capsys.readouterr()
    assert "OSError(28, 'No space left on device')" in printed.out
    assert "outbox/__init__.py" in printed.out
    assert "run 2 of 2 without faults" in printed.err
    assert "2 messages to explain: “cannot write 3 orders" in printed.err
    assert "✓ the log is reproduced, 0 of 2 messages missing" in printed.err
    assert printed.out.startswith("✓ The log is reproduced  2 of 2 repeats show it; ")
    (search,) = searches(folder)
    result = json.loads((search / "result.json").read_text())
    assert result["best"]["faults"][0]["occurrence"] == 3
    assert "<html" in (search / "report.html").read_text()
    replayed = subprocess.run([sys.executable, search / "replay/replay.py"], check=False, capture_output=True)
    assert replayed.returncode == 1, replayed


def test_only_rounds_that_show_the_failure_are_kept_once_it_is_found(folder: Path) -> None:
    # Where the best fault does not do it, there are rounds before the one that does.
    oracle = ("--oracle", "log:3 of 12 orders", "--no-second-fault", "--out", "found")

    assert reproduce(*oracle) in (0, 1)
    assert reproduce(*oracle, "--keep-rounds") in (0, 1)

    tidy, whole = searches(folder)
    told = json.loads((tidy / "result.json").read_text())
    kept = {each["round"] for each in (told["best"], told["first_found"], *told["alternatives"])}
    assert {path.name for path in tidy.glob("round-*")} == {f"round-{number:04}" for number in kept}
    assert len(list(whole.glob("round-*"))) > len(kept)


def test_a_search_that_gave_up_goes_on_with_more_rounds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert reproduce("--oracle", "log:5 of 12 orders", "--rounds", "2", "--no-second-fault", "--json") == 3
    first = capsys.readouterr()
    code = app(["reproduce", "--resume", "--rounds", "3", "--json"], standalone_mode=False)
    second = capsys.readouterr()

    assert (json.loads(first.out)["reproduced"], json.loads(first.out)["rounds"]) == (False, 2)
    assert (code, json.loads(second.out)["rounds"]) == (3, 3)
    assert f"going on with {searches(folder)[0]}" in second.err
    assert "going on after 2 rounds" in second.err
    assert second.err.count("messages missing") == 1


def interrupted(*arguments: str, after: str, by: signal.Signals = signal.SIGINT) -> tuple[int, str, str]:
    """Exit code, result and progress of a search that was stopped when it said something."""
    command = [sys.executable, "-m", "cutset", "reproduce", "case.yaml", "--run", RUN, *arguments]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "300"},
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - who runs us may ignore it
    ) as search:
        assert search.stdout is not None
        assert search.stderr is not None
        said = ""
        while after not in said:
            line = search.stderr.readline()
            assert line, said
            said += line
        search.send_signal(by)
        said += search.stderr.read()
        return search.wait(), search.stdout.read(), said


def test_an_interrupted_search_loses_nothing(folder: Path) -> None:
    code, told, said = interrupted("--oracle", "log:5 of 12 orders", after="messages missing")

    assert (code, told) == (130, "")
    assert "no finished round is lost. Go on with `cutset reproduce --resume`\ninterrupted" in said
    assert not (searches(folder)[0] / "result.json").exists()
    assert app(["reproduce", "--resume", "--rounds", "1", "--no-second-fault"], standalone_mode=False) == 3


# The third fault in a row that is slow enough to be interrupted in: what was found before is not repeated yet.
SLOW = """
import os, time
kept = path.read_text().splitlines() if path.exists() else []
time.sleep(0 if len(kept) == 12 or not os.path.exists(os.environ["GATE"]) else 60)
open(os.environ["GATE"], "w").close() if len(kept) < 12 else None
"""


@pytest.mark.parametrize(("by", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_was_found_before_an_interruption_is_reported_and_the_search_can_go_on(
    folder: Path, by: signal.Signals, code: int
) -> None:
    gate = folder / "gate"
    with Path("workload.py").open("a") as file:
        file.write(SLOW)

    ended, told, said = interrupted("--env", f"GATE={gate}", "--markdown", "found.md", after="is reproduced", by=by)

    assert ended == code
    assert "it was not tried again; 1 round," in told.splitlines()[0]
    assert "ended early: it was interrupted" in told.splitlines()[0]
    assert "it may be a coincidence" in told
    assert "Go on with `cutset reproduce --resume`" in said
    (search,) = searches(folder)
    assert json.loads((search / "result.json").read_text())["stopped"] == "it was interrupted"
    assert (search / "replay/replay.py").exists()
    assert "it was interrupted" in (search / "report.html").read_text()
    assert "it was interrupted" in Path("found.md").read_text()
    assert app(["report", search.name], standalone_mode=False) == 0
    Path("workload.py").write_text(Path("workload.py").read_text().replace("else 60", "else 0"))
    assert app(["reproduce", "--resume"], standalone_mode=False) == 0


def test_the_failure_log_may_come_from_a_pipe(folder: Path) -> None:
    command = [sys.executable, "-m", "cutset", "reproduce", "case.yaml", "--run", RUN, "--log", "-", "--json"]
    log = Path("failure.log").read_text()
    Path("failure.log").unlink()

    done = subprocess.run(
        [*command, "--rounds", "1", "--oracle", "log:5 of 12"], input=log, capture_output=True, text=True, check=False
    )

    assert done.returncode == 3, done
    (search,) = searches(folder)
    assert (search / "failure.log").read_text() == log
    assert app(["reproduce", "--resume", "--rounds", "2", "--no-second-fault"], standalone_mode=False) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--oracle", "log:wrote 3 orders"], "The oracle holds without any fault: run.log:1"),
        (["--run", f"{RUN} fail"], "The workload fails by itself, without any fault: exit code 1"),
        (["--run", f"{RUN} sleep", "--timeout", "1s"], "The workload fails by itself, without any fault: it timed out"),
        (["--run", f"{RUN} die"], "The workload fails by itself, without any fault: signal 9"),
        (["--run", "python nope.py"], "the script `nope.py` does not exist"),
        (["--log-from", "nothere*.log"], "The workload leaves no log, even without faults"),
        (["--out", "workload.py"], "`--out workload.py`: cannot write there: File exists"),
        (["--out", "workload.py/out"], "`--out workload.py/out`: cannot write there: Not a directory"),
        (["--run", "./workload.py"], "The workload does not start: `"),
        (["--log", "good.log"], "The failure log has nothing that good runs lack"),
        (["--source", "constants"], "There is nothing to inject in constants"),
        (["--source", "outbx"], "No Python source of 'outbx'"),
        (["--oracle", "log:("], "oracle `log:(`, at character 5"),
        (["--log", "absent.log"], "Cannot read the failure log `"),
        (["--log-pattern", "("], "("),
        (["--faults", "exception,hung"], "`--faults exception,hung`: there is no kind of fault `hung`"),
        (["--env", "DEBUG"], "`--env DEBUG`: expected a name and a value"),
        (["--timeout", "soon"], "`--timeout soon`: expected a time"),
    ],
)
def test_what_cannot_work_is_explained(folder: Path, arguments: list[str], message: str) -> None:
    Path("constants.py").write_text("ANSWER = 42\n")
    at = "2026-03-02 04:11:09,120 INFO [MainThread]"
    Path("good.log").write_text(f"{at} outbox: wrote 3 orders\n" * 4 + f"{at} root: 12 of 12 orders are on disk\n")
    with Path("workload.py").open("a") as file:
        file.write(MISBEHAVIOUR)

    with pytest.raises(CutsetError) as error:
        reproduce(*arguments)

    assert message in error.value.message
    assert error.value.exit_code == 2


def test_there_must_be_something_to_resume_and_it_must_be_the_same_case(folder: Path) -> None:
    with pytest.raises(CutsetError, match="There is no unfinished reproduction in"):
        reproduce("--resume")

    reproduce("--oracle", "log:5 of 12 orders", "--rounds", "1", "--no-second-fault")
    with pytest.raises(CutsetError, match="was begun with other oracle, so it cannot be resumed"):
        reproduce("--resume", "--oracle", "log:4 of 12 orders")


def test_what_was_found_is_kept_if_it_cannot_be_written_where_it_should(folder: Path) -> None:
    Path("out/report.html").mkdir(parents=True)

    with pytest.raises(IsADirectoryError):
        reproduce("--out", "out")

    assert json.loads((searches(folder)[0] / "result.json").read_text())["reproduced"]
