"""What is counted and what fires inside a program, in all its processes, threads and tasks."""

import pytest
from tests.samples.hooked_program import Program
from tests.samples.interpreters import interpreter


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


SHARED = """
    import threading
    def write(n):
        try:
            return abs(n)
        except OSError as error:
            return str(error)
    def index():
        return write(1)
    def data():
        return write(2)
    print([index(), data(), data(), index(), index()])
"""


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize(
    ("within", "nth", "printed"),
    [
        ("main.py:write < main.py:index", 2, "[1, 2, 2, 'x', 1]"),
        ("main.py:write < main.py:data", 2, "[1, 2, 'x', 1, 1]"),
        ("main.py:write < main.py:data", 0, "[1, 'x', 2, 1, 1]"),
        ("main.py:write < main.py:data", 3, "[1, 2, 2, 1, 1]"),
        ("", 3, "[1, 2, 'x', 1, 1]"),
    ],
)
def test_a_fault_fires_at_the_nth_visit_in_its_context(within, nth, printed, trace, tmp_path):
    program = Program(tmp_path, main=SHARED)
    assert program.run_hooked("main.py", choices=[("abs", nth, "OSError('x')", within)], trace=trace).stdout == (
        printed + "\n"
    )
    if "x" in printed and within:
        fired = program.fired()
        assert (fired["within"], fired["nth"]) == (within, nth or 1)
        assert fired["occurrence"] == printed.split(", ").index("'x'") + 1


def test_first_faults_go_before_choices_whatever_their_contexts(tmp_path):
    program = Program(tmp_path, main=SHARED)
    hooked = program.run_hooked(
        "main.py",
        first=[("abs", 2, "OSError('first')")],
        choices=[("abs", 1, "OSError('choice')", "main.py:write < main.py:data")],
    )
    assert hooked.stdout == "[1, 'first', 2, 1, 1]\n"
