"""How the plan of a run is read."""

from tests.samples.hooked_program import SITES, Program


def test_a_plan_that_cannot_be_read_does_not_stop_the_program(tmp_path):
    program = Program(tmp_path, main="print('runs')\n")
    env = {"CUTSET_SITES": str(tmp_path / "none.json"), "PYTHONPATH": str(SITES / "hook")}
    hooked = program.run("main.py", env=env)
    assert (hooked.stdout, hooked.returncode) == ("runs\n", 0)
    assert "none.json` cannot be read" in hooked.stderr


def test_without_tracing_only_chosen_sites_are_rewritten(tmp_path):
    source = "def f():\n    abs(-1)\n    len('')\n\nf()\nprint(f.__code__.co_names)\n"
    program = Program(tmp_path, main=source)
    assert "__cutset__" not in program.run_hooked("main.py", trace=False).stdout
    assert program.run_hooked("main.py", trace=False, choices=[("abs", 9, "OSError()")]).stdout.count("__cutset__") == 1
    assert program.visits() == []
