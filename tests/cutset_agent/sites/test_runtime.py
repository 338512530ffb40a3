"""What is counted and recorded inside a program, in all its processes, threads and tasks."""

import json
import shutil

import pytest
from tests.samples.hooked_program import SITES, Program, same
from tests.samples.interpreters import interpreter


def test_a_plan_that_cannot_be_read_does_not_stop_the_program(tmp_path):
    program = Program(tmp_path, main="print('runs')\n")
    env = {"CUTSET_SITES": str(tmp_path / "none.json"), "PYTHONPATH": str(SITES / "hook")}
    hooked = program.run("main.py", env=env)
    assert (hooked.stdout, hooked.returncode) == ("runs\n", 0)
    assert "none.json` cannot be read" in hooked.stderr


def test_visits_know_their_occurrence_thread_and_log_lines(tmp_path):
    program = Program(
        tmp_path,
        main="""
            import logging, sys, threading, work
            logging.basicConfig(level=logging.INFO)
            work.act()
            logging.info("one")
            logging.debug("not shown")
            logging.warning("two")
            thread = threading.Thread(target=work.act, name="worker é")
            thread.start()
            thread.join()
        """,
        work="""
            def act():
                return abs(-1)
        """,
    )
    hooked = program.run_hooked("main.py")
    assert hooked.stderr == program.run("main.py").stderr
    assert program.visits() == [("abs", 1, 0, 0, "MainThread"), ("abs", 2, 2, 0, "worker é")]


def test_visits_in_a_task_have_its_name(tmp_path):
    program = Program(
        tmp_path,
        main="""
            import asyncio
            def act():
                return abs(-1)
            async def job():
                act()
            async def main():
                tasks = [asyncio.get_running_loop().create_task(job()) for _ in range(2)]
                tasks[0].set_name("first job")
                tasks[1].set_name("second job")
                asyncio.get_running_loop().call_soon(act)
                await asyncio.wait(tasks)
            act()
            asyncio.run(main())
        """,
    )
    program.run_hooked("main.py")
    names = [thread for text, _, _, _, thread in program.visits() if text == "abs"]
    assert names == ["MainThread", "first job", "second job", "MainThread"]


def test_occurrences_are_exact_under_threads(tmp_path):
    program = Program(
        tmp_path,
        main="""
            import sys, threading
            sys.setswitchinterval(1e-6)
            def act():
                for _ in range(1000):
                    abs(-1)
            threads = [threading.Thread(target=act) for _ in range(8)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        """,
    )
    program.run_hooked("main.py")
    occurrences = [occurrence for text, occurrence, *_ in program.visits() if text == "abs"]
    assert sorted(occurrences) == list(range(1, 8001))


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


def test_one_fault_fires_over_all_processes(tmp_path):
    program = Program(
        tmp_path,
        main="""
            import subprocess, sys
            command = [sys.executable, "child.py"]
            children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
            print(sorted(child.communicate()[0] for child in children))
        """,
        child="""
            import threading
            def work():
                try:
                    abs(-1)
                except OSError:
                    print("fault")
            threads = [threading.Thread(target=work) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
        """,
    )
    hooked = program.run_hooked("main.py", choices=[("abs", 0, "OSError(5, 'x')"), ("print", 0, "MemoryError()")])
    assert hooked.stdout == "['', '', '', 'fault\\n']\n"
    assert program.fired()["effect"] == "OSError(5, 'x')"


@pytest.mark.parametrize("version", ["3.8", "3.14"])
def test_each_first_fault_fires_in_one_process(version, tmp_path):
    program = Program(
        tmp_path,
        main="""
            import multiprocessing
            def work(n):
                try:
                    return abs(n)
                except OSError as error:
                    return error.args[0]
            if __name__ == "__main__":
                with multiprocessing.get_context("spawn").Pool(2) as pool:
                    print(sorted(map(str, pool.map(work, range(40), chunksize=5))).count("a"))
                print(work(0), work(0), work(0))
        """,
    )
    faults = {"first": [("abs", 0, "OSError('a')")] * 2, "choices": [("abs", 3, "OSError('b')")]}
    hooked = program.run_hooked("main.py", **faults, python=interpreter(version))
    assert hooked.stdout == "2\n0 0 0\n"
    assert program.fired_first() == ["first.0.json", "first.1.json"]


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


def test_without_tracing_only_chosen_sites_are_rewritten(tmp_path):
    source = "def f():\n    abs(-1)\n    len('')\n\nf()\nprint(f.__code__.co_names)\n"
    program = Program(tmp_path, main=source)
    assert "__cutset__" not in program.run_hooked("main.py", trace=False).stdout
    assert program.run_hooked("main.py", trace=False, choices=[("abs", 9, "OSError()")]).stdout.count("__cutset__") == 1
    assert program.visits() == []
