"""The lesson about reproductions, as its reader follows it: every command, both answers, and the repair."""

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LESSON = (ROOT / "docs/tutorial/reproduce.md").read_text()
COMMANDS = re.findall(r"^\$ (.+)$", LESSON, re.MULTILINE)
(REPAIR,) = re.findall(r"```diff\n(.*?)```", LESSON, re.DOTALL)


def follow(command: str, folder: Path, answers: bytes = b"") -> tuple[int, str]:
    """In a shell with this Python and its commands; on a terminal that has answers to questions."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "300"}
    ours, theirs = pty.openpty()
    os.write(ours, answers)
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=folder,
            env=environment,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    return done.returncode, done.stdout


def test_the_lesson_works_as_it_is_written(tmp_path: Path) -> None:
    copy, workload, begin, search, replay, test = COMMANDS
    folder = tmp_path / "outbox-lesson"
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__", ".cutset"))

    assert follow(copy, tmp_path) == (0, "")
    assert "12 of 12 orders are on disk" in follow(workload, folder)[1]
    code, said = follow(begin, folder, b"\n\n")
    assert (code, said.count("✓")) == (0, 3), said
    assert "  1  log:6 of 12 orders are on disk  the last message of the log\n" in said
    assert "  1  outbox  the workload imports it; the failure log names it in 6 entries\n" in said
    code, said = follow(search, folder)
    assert code == 0, said
    assert "✓ The log is reproduced  2 of 2 repeats show it" in said
    assert "Either of these two explains the log as well:" in said
    assert "the 3rd time it gets there within `__init__.py:add`" in said
    code, said = follow(replay, folder)
    assert (code, said.splitlines()[0]) == (1, "The failure is there."), said
    assert follow(test, folder)[0] == 1

    module = folder / "outbox/__init__.py"
    old, new = ("\n".join(line[1:] for line in REPAIR.splitlines() if line[0] != left_out) for left_out in "+-")
    assert old in module.read_text()
    module.write_text(module.read_text().replace(old, new))

    code, said = follow(test, folder)
    assert (code, "1 passed" in said) == (0, True), said
