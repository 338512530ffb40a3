"""Each process has a record of its own, if it can be written."""

import json
import shutil

import pytest
from tests.samples.hooked_program import SITES, Program, same
from tests.samples.interpreters import interpreter

WORKERS = """
    import multiprocessing, sys

    def work(n):
        return abs(n)

    if __name__ == "__main__":
        context = multiprocessing.get_context(sys.argv[1])
        with context.Pool(2) as pool:
            print(pool.map(work, [-1, -2, -3, -4], chunksize=2))
            pool.close()
            pool.join()
        work(-5)
"""


@pytest.mark.parametrize(
    ("method", "version"),
    [
        ("fork", "3.11"),
        ("forkserver", "3.11"),
        ("spawn", "3.8"),
        ("spawn", "3.11"),
        ("spawn", "3.12"),
        ("spawn", "3.14"),
    ],
)
def test_processes_of_multiprocessing_count_by_themselves(method, version, tmp_path):
    program = Program(tmp_path, main=WORKERS)
    same(program, "main.py", method, python=interpreter(version))
    by_process = {}
    for text, occurrence, _, process, _ in program.visits():
        if text == "abs":
            by_process.setdefault(process, []).append(occurrence)
    assert by_process.pop(0) == [1]
    assert by_process
    assert all(occurrences == list(range(1, len(occurrences) + 1)) for occurrences in by_process.values())
    assert sum(map(len, by_process.values())) == 4
    processes = (program.out / "processes").read_text().split()
    assert len(processes) == len(set(processes)) > max(by_process)


def test_without_a_folder_to_write_to_the_program_runs_as_it_is(tmp_path):
    program = Program(tmp_path, main="import os\ndef f():\n    print(abs(-1))\n\nf()\nos.fork() and os.wait()\nf()\n")
    shutil.rmtree(tmp_path / "rounds", ignore_errors=True)
    plan = {
        "files": program.files,
        "choices": [[0, 1, "OSError()"]],
        "trace": True,
        "out": str(tmp_path / "none" / "out"),
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    env = {"CUTSET_SITES": str(tmp_path / "plan.json"), "PYTHONPATH": str(SITES / "hook")}
    hooked = program.run("main.py", env=env | {"PYTHONUNBUFFERED": "1"})
    assert (hooked.stdout, hooked.stderr, hooked.returncode) == ("1\n1\n1\n", "", 0)
