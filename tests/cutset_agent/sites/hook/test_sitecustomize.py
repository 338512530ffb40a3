"""Fault sites are started in every interpreter, and nothing else changes there."""

import os
import shutil

from tests.samples.hooked_program import SITES, Program


def test_without_a_plan_nothing_is_touched(tmp_path):
    program = Program(
        tmp_path, main="import builtins, sys\nprint(hasattr(builtins, '__cutset__'), len(sys.meta_path))\n"
    )
    plain = program.run("main.py", env={"CUTSET_SITES": ""})
    hooked = program.run("main.py", env={"CUTSET_SITES": "", "PYTHONPATH": str(SITES / "hook")})
    assert hooked.stdout == plain.stdout
    assert hooked.stdout.startswith("False")


def test_the_sitecustomize_that_the_hook_hides_runs_and_the_path_is_as_before(tmp_path):
    program = Program(tmp_path, main="import sys\nprint(sys.path)\n")
    others = tmp_path / "others"
    others.mkdir()
    (others / "sitecustomize.py").write_text("print('theirs')\n")
    without = program.run("main.py", env={"PYTHONPATH": str(others)})
    path = os.pathsep.join([str(SITES / "hook"), str(others)])
    hooked = program.run_hooked("main.py", env={"PYTHONPATH": path})
    assert hooked.stdout == without.stdout
    assert hooked.stdout.startswith("theirs\n")


def test_a_copy_of_the_hook_does_without_cutset(tmp_path):
    program = Program(tmp_path, main="def f():\n    print('x')\n\nf()\n")
    copy = shutil.copytree(SITES, tmp_path / "copy") / "hook"
    hooked = program.run_hooked("-I", "main.py", hook=copy)  # isolated: not even then does it harm
    assert program.visits() == []
    hooked = program.run_hooked("main.py", hook=copy, choices=[("print", 1, "OSError('x')")])
    assert program.visits() == [("print", 1, 0, 0, "MainThread")]
    assert "OSError: x" in hooked.stderr
