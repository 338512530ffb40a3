"""What is counted and recorded inside a program, in all its processes, threads and tasks."""

import json
import shutil

import pytest
from tests.samples.hooked_program import PECULIAR, SITES, Program, same
from tests.samples.interpreters import interpreter

from cutset_agent.sites.visits import read_visits


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


CONTEXTS = """
    import asyncio, functools, threading

    def site(n):
        return abs(n)

    def walk(n):
        return site(n) if n < 1 else walk(n - 1)

    def by_list():
        return [site(n) for n in range(2)] and {site(3) for _ in "x"}

    def by_callback():
        return functools.reduce(lambda _, n: site(n), [1, 2])

    class Child:
        def walk(self):
            return walk(3)

    async def awaited():
        site(1)

    async def task():
        await awaited()

    def main():
        site(0)
        walk(5)
        by_list()
        by_callback()
        Child().walk()
        asyncio.run(task())
        thread = threading.Thread(target=by_list)
        thread.start()
        thread.join()
        site(0)

    main()
"""


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def test_a_visit_knows_the_functions_that_led_to_it_and_its_number_among_those_that_they_led_to(version, tmp_path):
    program = Program(tmp_path, main=CONTEXTS)
    program.run_hooked("main.py", python=interpreter(version))
    assert program.contexts("abs") == [
        ("main.py:site < main.py:main", 1),
        ("main.py:site < main.py:walk < main.py:main", 1),
        *[("main.py:site < main.py:by_list < main.py:main", nth) for nth in (1, 2, 3)],
        *[("main.py:site < main.py:<lambda> < main.py:by_callback < main.py:main", nth) for nth in (1,)],
        ("main.py:site < main.py:walk < main.py:main", 2),
        ("main.py:site < main.py:awaited < main.py:task < main.py:main", 1),
        *[("main.py:site < main.py:by_list", nth) for nth in (1, 2, 3)],
        ("main.py:site < main.py:main", 2),
    ]


def test_contexts_have_the_functions_of_all_analysed_files_and_of_no_others(tmp_path):
    program = Program(tmp_path, main="import library\ndef start():\n    library.call()\nstart()\n")
    (tmp_path / "library.py").write_text("import work\ndef call():\n    work.act()\n")
    (tmp_path / "work.py").write_text("def act():\n    abs(-1)\n")
    rows = {str(tmp_path / "work.py"): [[0, "call", 2, 4, 2, 11]]}
    for analysed, context in [
        (["work.py"], "work.py:act"),
        (["work.py", "main.py"], "work.py:act < main.py:start"),
        (["work.py", "main.py", "library.py"], "work.py:act < library.py:call < main.py:start"),
    ]:
        program.run_hooked("main.py", files=rows, analysed=[str(tmp_path / name) for name in analysed])
        assert [row.within for row in read_visits(str(program.out))] == [context]


def test_a_long_context_ends_after_the_nearest_functions(tmp_path):
    steps = "".join(f"def f{n}():\n    f{n + 1}()\n" for n in range(20))
    program = Program(tmp_path, main=f"{steps}def f20():\n    abs(0)\nf0()\n")
    program.run_hooked("main.py")
    assert program.contexts("abs") == [(" < ".join(f"main.py:f{n}" for n in range(20, 12, -1)), 1)]


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


FUNCTIONS = '''
    import functools, os, sys
    def runs():
        """Does."""
    def never():
        pass
    @functools.lru_cache(
        maxsize=None
    )
    def decorated():
        return (lambda: 1)() or (lambda:
            2)()
    class A:
        def method(self):
            class Local:
                pass
            yield 1
    async def coroutine():
        pass
    def in_child():
        pass
    runs(); runs(); decorated(); next(A().method())
    started = A().method()
    coroutine().close()
    print(runs.__doc__, runs.__code__.co_firstlineno)
    sys.stdout.flush()
    if os.fork():
        os.wait()
    else:
        in_child()
    os.kill(os.getpid(), 9)
'''


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def test_functions_that_ran_are_told_however_the_process_ends(version, tmp_path):
    program = Program(tmp_path, main=FUNCTIONS, unused="def f(): pass\n")
    hooked = program.run_hooked(
        "main.py", functions=True, files={path: [] for path in program.files}, python=interpreter(version)
    )
    assert hooked.stdout == "Does. 3\n"
    assert program.functions() == {"main.py": {0, 3, 7, 11, 14, 20}}
    assert program.problems() == ""


@pytest.mark.parametrize("version", ["3.11", "3.12"])
def test_telling_functions_changes_nothing(version, tmp_path):
    program = Program(tmp_path, peculiar=PECULIAR)
    without = program.run("peculiar.py", python=interpreter(version))
    hooked = program.run_hooked("peculiar.py", functions=True, python=interpreter(version))
    assert (hooked.stdout, hooked.stderr) == (without.stdout, without.stderr)
    assert len(program.functions()["peculiar.py"]) > 20
