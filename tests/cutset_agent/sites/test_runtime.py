"""Programs run with the hook and without: they must not notice it, until the one visit that is to fail."""

import ast
import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutset_agent
from cutset_agent.sites.rewriting import rewrite
from cutset_agent.sites.runtime import VISITS, VISITS_OF_SITE
from cutset_agent.sites.visits import read_counts, read_visits

SITES = Path(cutset_agent.__file__).parent / "sites"
KINDS = {ast.Call: "call", ast.Await: "await", ast.Raise: "raise"}


def rows_and_texts(source, first=0):
    """All places in functions, and for each site its text: what is called, or the whole."""
    rows, texts = [], {}
    for function in [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]:
        for node in [node for statement in function.body for node in ast.walk(statement)]:
            if type(node) not in KINDS or (isinstance(node, ast.Await) and isinstance(node.value, ast.Call)):
                continue
            position = [KINDS[type(node)], node.lineno, node.col_offset, node.end_lineno, node.end_col_offset]
            if position not in [row[1:] for row in rows]:
                texts[first + len(rows)] = ast.unparse(node.func if isinstance(node, ast.Call) else node)
                rows.append([first + len(rows), *position])
    return rows, texts


class Program:
    """Files in a folder, and runs of them. A choice names its site by its text."""

    def __init__(self, folder, **files):
        self.folder, self.runs, self.files, self.texts = folder, 0, {}, {}
        for name, source in files.items():
            path = folder / f"{name}.py"
            path.write_text(dedent(source))
            rows, texts = rows_and_texts(path.read_text(), len(self.texts))
            self.files[str(path)] = rows
            self.texts.update(texts)

    def site(self, text):
        [site] = [site for site, other in self.texts.items() if other == text]
        return site

    def run(self, *command, python=sys.executable, env=None):
        return subprocess.run(
            [python, *command],
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    def run_hooked(
        self,
        *command,
        choices=(),
        first=(),
        trace=True,
        python=sys.executable,
        hook=SITES / "hook",
        files=None,
        env=None,
    ):
        self.runs += 1
        self.out = self.folder / "rounds" / str(self.runs)
        self.out.mkdir(parents=True)
        numbered = [
            [[self.site(site) if isinstance(site, str) else site, *rest] for site, *rest in rows]
            for rows in (choices, first)
        ]
        plan = {
            "files": self.files if files is None else files,
            "choices": numbered[0],
            "first": numbered[1],
            "trace": trace,
            "out": str(self.out),
        }
        plan_path = self.out / "plan.json"
        plan_path.write_text(json.dumps(plan))
        ours = {"CUTSET_SITES": str(plan_path), "PYTHONPATH": str(hook)}
        return self.run(*command, python=python, env={**ours, **(env or {})})

    def visits(self):
        return [(self.texts[site], *rest) for site, *rest in read_visits(str(self.out))]

    def fired(self, name="fired"):
        path = self.out / f"{name}.json"
        return json.loads(path.read_text()) if path.exists() else None

    def fired_first(self):
        return sorted(path.name for path in self.out.glob("first.*"))

    def problems(self):
        path = self.out / "problems.txt"
        return path.read_text() if path.exists() else ""


def same(program, *command, **options):
    without = program.run(*command, **options)
    hooked = program.run_hooked(*command, **options)
    assert (hooked.stdout, hooked.stderr, hooked.returncode) == (without.stdout, without.stderr, without.returncode)
    assert program.problems() == ""
    return hooked


@functools.cache
def interpreter(version):
    found = [*Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), shutil.which(f"python{version}")]
    for path in filter(None, found):
        run = subprocess.run(
            [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.stdout.strip() == version:
            return str(path)
    return pytest.skip(f"Python {version} is not installed")


PECULIAR = '''
    """Says what it is."""
    from __future__ import annotations
    import asyncio, contextlib, functools, inspect, sys, traceback, warnings

    seen = []

    def note(value, result=None):
        seen.append(value)
        return result

    class Meta(type):
        @classmethod
        def __prepare__(mcs, name, bases):
            return {"magic": "from the metaclass"}

    class Base:
        def __init__(self, *args, **kwargs):
            self.args, self.kwargs = args, kwargs
        def chain(self, value=0):
            return 1 / value if value < 0 else self
        def fail(self, reason):
            raise ValueError(reason)

    class Derived(Base, metaclass=Meta):
        text = str(magic).upper()
        def __init__(self, *args):
            super().__init__(*args, key=len(args))
            self.cell = __class__.__name__
        def annotated(self, x: list(map(int, "12")) = dict(a=1)) -> print("never"):
            return Derived.annotated.__annotations__

    def generator():
        received = yield note("started")
        try:
            yield note(received)
        finally:
            note("closed")

    def scopes(a):
        b = [(lambda y: y + a)(x) for x in range(3) if (last := x) is not None]
        return sorted(locals()), b, last, eval("a"), {k: str(v) for k, v in zip("ab", range(2))}

    def order():
        def f(*args, **kwargs):
            return args, kwargs
        return note("callee", f)(note("1"), *[note("2")], a=note("3"), **{"b": note("4")})

    def consumes(iterator):
        return next(iterator) + max(next(iterator), *[next(iterator)], key=lambda x: x)

    @functools.lru_cache(maxsize=None)
    def decorated(n):
        return n if n < 2 else decorated(n - 1) + decorated(n - 2)

    def deep(n):
        return deep(n - 1) if n else inspect.stack()[0].function, len(inspect.stack())

    def several_lines(base):
        return (base
                .chain()
                .chain(
                    1,
                )
                .fail("on this line"))

    def conditions(x):
        if x > 3:
            note("large")
            raise OverflowError(x)
        for y in range(x):
            if y == 2:
                return y
        raise LookupError("nothing")

    def while_handling():
        try:
            {}["missing"]
        except KeyError:
            int("x")

    def warn():
        warnings.warn("look here", stacklevel=2)

    async def ticks(n):
        for i in range(n):
            await asyncio.sleep(0)
            yield i

    async def asynchronous():
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_result, "future")
        task = asyncio.ensure_future(asyncio.sleep(0, "task"))
        values = [i async for i in ticks(3)]
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(note, "stack closed")
        try:
            await asyncio.wait_for(asyncio.sleep(10), 0.001)
        except asyncio.TimeoutError:
            values.append("late")
        return values, await future, await task

    def attempt(function, *args):
        try:
            print(function.__name__, function(*args))
        except Exception:
            print(traceback.format_exc())

    def main():
        assert note("assertions are on") is None
        print(__doc__, __name__, sys.argv, __debug__, __spec__ and __spec__.name, [f.function for f in inspect.stack()])
        derived = Derived(1, 2)
        print(derived.args, derived.kwargs, derived.cell, Derived.text, derived.annotated())
        steps = generator(); next(steps); steps.send("sent"); steps.close()
        for case in [(scopes, 1), (order,), (consumes, iter([1, 2, 3, 4])), (decorated, 12), (deep, 5),
                     (several_lines, derived), (conditions, 5), (conditions, 1), (conditions, 3),
                     (while_handling,), (derived.chain, -0.5), (warn,)]:
            attempt(*case)
        print(asyncio.run(asynchronous()))
        print(seen)
        several_lines(derived)

    if __name__ != "peculiar":
        main()
'''


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"])
def test_a_script_and_its_traceback_are_the_same_with_tracing(version, tmp_path):
    program = Program(tmp_path, peculiar=PECULIAR)
    hooked = same(program, "peculiar.py", "argument", python=interpreter(version))
    assert "ValueError: on this line" in hooked.stderr
    visited = {text for text, *_ in program.visits()}
    assert {"super", "super().__init__", "locals", "await future", "base.chain().chain(1).fail", "decorated"} < visited


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_an_imported_module_is_the_same_with_tracing(version, tmp_path):
    program = Program(tmp_path, peculiar=PECULIAR)
    same(program, "-c", "import peculiar; peculiar.main()", python=interpreter(version))
    assert len(program.visits()) > 100


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "peculiar"],
        ["-OO", "peculiar.py"],
        ["-W", "error", "-X", "dev", "peculiar.py"],
        ["-c", "import runpy; runpy.run_path('peculiar.py', run_name='other')"],
    ],
)
def test_a_program_is_the_same_however_it_is_started(command, tmp_path):
    program = Program(tmp_path, peculiar=PECULIAR)
    same(program, *command)
    assert len(program.visits()) > 100


def test_errors_of_modules_without_sites_look_the_same(tmp_path):
    program = Program(tmp_path, main="def load():\n    import broken\n\nload()\n")
    (tmp_path / "broken.py").write_text("import os\nthis is no Python\n")
    assert "SyntaxError" in same(program, "main.py").stderr
    (tmp_path / "broken.py").write_text("import no_such_module\n")
    assert "ModuleNotFoundError" in same(program, "main.py").stderr


def test_a_file_is_read_in_its_own_encoding(tmp_path):
    program = Program(tmp_path, main="import old\nprint(ascii(old.name()))\n")
    old = tmp_path / "old.py"
    old.write_bytes("# coding: latin-1\ndef name():\n    return str('é')\n".encode("latin-1"))
    call = [0, "call", 3, 11, 3, 20]  # columns count bytes of UTF-8, whatever the file has
    hooked = program.run_hooked("main.py", files={str(old): [call]})
    assert (hooked.stdout, program.problems()) == ("'\\xe9'\n", "")
    assert [site for site, *_ in read_visits(str(program.out))] == [0]


def test_without_a_plan_nothing_is_touched(tmp_path):
    program = Program(
        tmp_path, main="import builtins, sys\nprint(hasattr(builtins, '__cutset__'), len(sys.meta_path))\n"
    )
    plain = program.run("main.py", env={"CUTSET_SITES": ""})
    hooked = program.run("main.py", env={"CUTSET_SITES": "", "PYTHONPATH": str(SITES / "hook")})
    assert hooked.stdout == plain.stdout
    assert hooked.stdout.startswith("False")


def test_a_plan_that_cannot_be_read_does_not_stop_the_program(tmp_path):
    program = Program(tmp_path, main="print('runs')\n")
    env = {"CUTSET_SITES": str(tmp_path / "none.json"), "PYTHONPATH": str(SITES / "hook")}
    hooked = program.run("main.py", env=env)
    assert (hooked.stdout, hooked.returncode) == ("runs\n", 0)
    assert "none.json` cannot be read" in hooked.stderr


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


def test_beyond_limits_visits_are_only_counted(tmp_path):
    sites = VISITS // VISITS_OF_SITE + 1
    calls = "".join(f"        g{n}()\n" for n in range(sites))
    source = f"def f(n):\n    for _ in range(n):\n{calls}    len('')\n\n"
    names = " = ".join(f"g{n}" for n in range(sites))
    program = Program(tmp_path, main=f"{source}{names} = lambda: None\nf({VISITS_OF_SITE + 500})\n")
    program.run_hooked("main.py")
    assert len(program.visits()) == VISITS
    counts = read_counts(str(program.out))
    assert {counts[0, program.site(f"g{n}")] for n in range(sites)} == {VISITS_OF_SITE + 500}
    assert counts[0, program.site("len")] == 1


def test_a_busy_site_leaves_room_for_others(tmp_path):
    program = Program(
        tmp_path, main=f"def f():\n    for _ in range({VISITS + 5}):\n        abs(0)\n    len('')\n\nf()\n"
    )
    program.run_hooked("main.py")
    assert [text for text, *_ in program.visits()] == ["range"] + ["abs"] * VISITS_OF_SITE + ["len"]


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_no_visit_is_lost_however_the_process_ends(end, tmp_path):
    program = Program(tmp_path, main=f"import os\ndef f():\n    for _ in range(5000):\n        abs(0)\n\nf()\n{end}\n")
    program.run_hooked("main.py")
    assert program.visits()[-1] == ("abs", 5000, 0, 0, "MainThread")


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
        ("spawn", "3.13"),
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


def test_tests_under_pytest_are_the_same(tmp_path):
    program = Program(
        tmp_path, work="def half(n):\n    if n % 2:\n        raise ValueError(n)\n    return divmod(n, 2)[0]\n"
    )
    (tmp_path / "test_work.py").write_text(
        dedent("""
        import work, pytest
        def test_even(): assert work.half(4) == 2
        def test_odd():
            with pytest.raises(ValueError): work.half(3)
        def test_wrong(): assert work.half(6) == 4
    """)
    )
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "-W", "error", "test_work.py"]
    without, hooked = program.run(*command), program.run_hooked(*command)

    def without_times(text):
        return [line for line in text.splitlines() if " passed in " not in line and " at 0x" not in line]

    assert without_times(hooked.stdout) == without_times(without.stdout)
    assert "1 failed, 2 passed" in hooked.stdout
    check = "raise ValueError(n)"
    assert [text for text, *_ in program.visits()] == [check, "divmod", check, "ValueError", check, "divmod"]


TAKING = """
    import sys, traceback
    stock = store = [1, 2, 3] if "full" in sys.argv else [1, 3]
    def take(wanted):
        return stock.remove(*[wanted.pop(0)])
    def take_by_method(wanted):
        return (store
                .remove(wanted
                        .pop(0)))
    def main():
        wanted = [1, 2, 3]
        while wanted:
            try:
                print(globals()[sys.argv[1]](wanted))
            except Exception:
                print(traceback.format_exc(), wanted)
    main()
"""


@pytest.mark.parametrize(
    ("function", "site", "version"),
    [("take", "stock.remove", "3.8"), ("take", "stock.remove", "3.13")]
    + [("take_by_method", "store.remove", version) for version in ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")],
)
def test_an_injected_exception_is_like_a_real_one_after_the_arguments_took_effect(function, site, version, tmp_path):
    program = Program(tmp_path, main=TAKING)
    python = interpreter(version)
    real = program.run("main.py", function, python=python)
    effect = "ValueError('list.remove(x): x not in list')"
    hooked = program.run_hooked("main.py", function, "full", python=python, choices=[(site, 2, effect)])
    assert (hooked.stdout, hooked.stderr) == (real.stdout, "")
    assert "x not in list\n [3]" in hooked.stdout
    fired = program.fired()
    assert (fired["site"], fired["occurrence"], fired["effect"]) == (program.site(site), 2, effect)
    assert [frame.split(" in ")[-1] for frame in fired["stack"]] == ["<module>", "main", function]
    assert (fired["thread"], fired["process"], fired["log_lines"]) == ("MainThread", 0, 0)


@pytest.mark.parametrize("trace", [True, False])
def test_a_fault_waits_until_the_arguments_have_been_evaluated(trace, tmp_path):
    program = Program(
        tmp_path,
        main="""
            def wrong():
                raise KeyError("argument")
            def attempt(argument):
                try:
                    print(abs(argument()))
                except (OSError, KeyError) as error:
                    print(repr(error))
            for argument in (wrong, lambda: -1, lambda: -2):
                attempt(argument)
        """,
    )
    hooked = program.run_hooked("main.py", choices=[("abs", 0, "OSError('fault')")], trace=trace)
    assert hooked.stdout == "KeyError('argument')\nOSError('fault')\n2\n"
    assert program.fired()["occurrence"] == 2
    assert bool(program.visits()) == trace


def test_an_exception_in_a_handler_has_its_context(tmp_path):
    program = Program(
        tmp_path,
        main="""
            def f():
                try:
                    {}["missing"]
                except KeyError:
                    abs(1)
            f()
        """,
    )
    hooked = program.run_hooked("main.py", choices=[("abs", 1, "OSError('fault')")])
    assert "During handling of the above exception" in hooked.stderr
    assert hooked.stderr.endswith("OSError: fault\n")


def test_an_effect_may_name_classes_of_modules_not_yet_imported(tmp_path):
    program = Program(tmp_path, main="import sys\ndef f():\n    abs(1)\n\nprint('concurrent' in sys.modules)\nf()\n")
    effect = "concurrent.futures.process.BrokenProcessPool('x', xml.sax.SAXException('y'), {'a': len('bc')})"
    hooked = program.run_hooked("main.py", choices=[("abs", 1, effect)])
    assert hooked.stdout == "False\n"
    assert "BrokenProcessPool: ('x', SAXException('y'), {'a': 2})" in hooked.stderr


@pytest.mark.parametrize(
    "effect", ["no.such.Module()", "OSError(", "len('not an exception')", "OSError(undefined)", "delay(x)"]
)
def test_an_effect_that_cannot_be_made_is_reported_and_does_not_fire(effect, tmp_path):
    program = Program(tmp_path, main="def f():\n    print(abs(-1))\n\nf()\nf()\n")
    hooked = program.run_hooked("main.py", choices=[("abs", 0, effect), ("print", 2, "OSError('other')")])
    assert hooked.stdout == "1\n"
    assert program.fired()["effect"] == "OSError('other')"
    assert program.problems().count("cannot be made") == 1


ATTEMPTS = """
    def f():
        try:
            return abs(-1)
        except OSError as error:
            return error.args[0]
    def g():
        try:
            return len("")
        except OSError as error:
            return error.args[0]
    print([f() for _ in range(4)], [g() for _ in range(4)])
"""


@pytest.mark.parametrize(
    ("first", "choices", "printed"),
    [
        ([("abs", 2, "OSError('a')")], [("len", 1, "OSError('b')")], "[1, 'a', 1, 1] ['b', 0, 0, 0]"),
        ([("len", 2, "OSError('a')")], [("abs", 1, "OSError('b')")], "['b', 1, 1, 1] [0, 'a', 0, 0]"),
        ([("abs", 0, "OSError('a')")], [("abs", 0, "OSError('b')")], "['a', 'b', 1, 1] [0, 0, 0, 0]"),
        ([("abs", 0, "OSError('a')")], [("abs", 1, "OSError('b')")], "['b', 'a', 1, 1] [0, 0, 0, 0]"),
        ([("abs", 1, "OSError('a')")], [("abs", 3, "OSError('b')")], "['a', 1, 'b', 1] [0, 0, 0, 0]"),
        ([("abs", 1, "OSError('a')")], [("len", 9, "OSError('b')")], "['a', 1, 1, 1] [0, 0, 0, 0]"),
        ([("abs", 1, "OSError('a')")] * 2, [], "['a', 1, 1, 1] [0, 0, 0, 0]"),
        ([("abs", 0, "OSError('a')"), ("len", 3, "OSError('c')")], [], "['a', 1, 1, 1] [0, 0, 'c', 0]"),
        ([("abs", 0, "OSError('a')")] * 3, [("abs", 0, "OSError('b')")], "['a', 'a', 'a', 'b'] [0, 0, 0, 0]"),
        ([("abs", 0, "no.such()"), ("abs", 0, "OSError('a')")], [], "['a', 1, 1, 1] [0, 0, 0, 0]"),
    ],
)
@pytest.mark.parametrize("trace", [True, False])
def test_first_faults_fire_once_each_beside_the_choice(first, choices, printed, trace, tmp_path):
    program = Program(tmp_path, main=ATTEMPTS)
    assert program.run_hooked("main.py", first=first, choices=choices, trace=trace).stdout == f"{printed}\n"
    assert len(program.fired_first()) == printed.count("'a'") + printed.count("'c'")
    assert (program.fired() is not None) == ("'b'" in printed)


def test_a_first_fault_leaves_the_same_as_a_choice(tmp_path):
    program = Program(tmp_path, main=ATTEMPTS)
    rows = [("abs", 2, "OSError('a')"), ("len", 9, "OSError('never')"), ("len", 0, "OSError('c')")]
    program.run_hooked("main.py", first=rows, choices=[("len", 3, "OSError('b')")])
    assert program.fired_first() == ["first.0.json", "first.2.json"]
    abs_site, len_site = program.site("abs"), program.site("len")
    fired = [program.fired(name) for name in ("first.0", "first.2", "fired")]
    assert [(fault["site"], fault["occurrence"], fault["effect"]) for fault in fired] == [
        (abs_site, 2, "OSError('a')"),
        (len_site, 1, "OSError('c')"),
        (len_site, 3, "OSError('b')"),
    ]
    assert fired[0].keys() == fired[2].keys()
    assert [frame.split(" in ")[-1] for frame in fired[0]["stack"]][-1] == "f"


@pytest.mark.parametrize("version", ["3.8", "3.13"])
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


def test_a_call_hangs_crashes_is_delayed_or_returns_something_else(tmp_path):
    source = "import time\ndef f():\n    begun = time.monotonic()\n    print(abs(-1))\n"
    source += "    print(time.monotonic() - begun > 0.2)\n"
    program = Program(tmp_path, main=source + "\nf()\n")
    assert program.run_hooked("main.py", choices=[("abs", 1, "delay(0.25)")]).stdout == "1\nTrue\n"
    assert program.run_hooked("main.py", choices=[("abs", 1, "return((None, b''))")]).stdout == "(None, b'')\nFalse\n"
    assert program.run_hooked("main.py", choices=[("abs", 1, "crash()")]).returncode == -9
    assert program.fired()["effect"] == "crash()"
    assert program.visits()[-1][0] == "abs"
    watched = "import faulthandler, main\nfaulthandler.dump_traceback_later(0.3, exit=True)\nmain.f()\n"
    (tmp_path / "watched.py").write_text(watched)
    (tmp_path / "main.py").write_text(source)
    hung = program.run_hooked("watched.py", choices=[("abs", 1, "hang()")])
    assert hung.returncode == 1
    assert 'main.py", line 4 in f' in hung.stderr


AWAITING = """
    import asyncio
    async def fetch(value):
        await asyncio.sleep(0)
        return value
    async def awaited():
        return await fetch("fetched")
    async def started():
        task = asyncio.ensure_future(fetch("started"))
        print("task made")
        return await task
    async def main():
        for function in awaited, started:
            try:
                print(await asyncio.wait_for(function(), 0.3))
            except Exception as error:
                print(type(error).__name__, error)
    asyncio.run(main())
"""
NORMAL = ["fetched", "task made", "started"]


@pytest.mark.parametrize(
    ("site", "occurrence", "effect", "expected"),
    [
        ("fetch", 1, "OSError('x')", ["OSError x", *NORMAL[1:]]),
        ("fetch", 1, "delay(0.01)", NORMAL),
        ("fetch", 1, "hang()", ["TimeoutError ", *NORMAL[1:]]),
        ("fetch", 1, "return(7)", ["7", *NORMAL[1:]]),
        ("fetch(later)", 1, "OSError('x')", ["fetched", "task made", "OSError x"]),
        ("fetch(later)", 1, "return(7)", ["fetched", "task made", "7"]),
        ("await task", 1, "OSError('x')", ["fetched", "task made", "OSError x"]),
        ("await task", 1, "hang()", ["fetched", "task made", "TimeoutError "]),
        ("await task", 1, "return(7)", ["fetched", "task made", "7"]),
        ("await task", 1, "asyncio.CancelledError()", ["fetched", "task made"]),
        ("await task", 2, "OSError('x')", NORMAL),
    ],
)
def test_coroutines_fail_without_their_event_loop(site, occurrence, effect, expected, tmp_path):
    program = Program(tmp_path, main=AWAITING)
    sites = {text: site for site, text in program.texts.items() if text != "fetch"}
    sites["fetch"], sites["fetch(later)"] = sorted(site for site, text in program.texts.items() if text == "fetch")
    hooked = program.run_hooked("main.py", choices=[(sites[site], occurrence, effect)])
    assert hooked.stdout.splitlines() == expected
    assert "never awaited" not in hooked.stderr


def test_a_raise_fires_where_it_is_decided_on_its_own_line(tmp_path):
    program = Program(
        tmp_path,
        main="""
            def check(value):
                try:
                    if value < 0:
                        print("negative")
                        raise ValueError(value)
                    return value
                except ValueError as error:
                    print("handled", error, "on line", error.__traceback__.tb_lineno)
            for value in (1, -2, 3, 4):
                print(check(value))
        """,
    )
    normal = "1\nnegative\nhandled -2 on line 6\nNone\n3\n4\n"
    assert same(program, "main.py").stdout == normal
    assert [occurrence for text, occurrence, *_ in program.visits() if text.startswith("raise")] == [1, 2, 3, 4]
    hooked = program.run_hooked("main.py", choices=[("raise ValueError(value)", 3, "ValueError('injected')")])
    assert hooked.stdout == normal.replace("\n3\n", "\nhandled injected on line 6\nNone\n")
    assert program.run_hooked("main.py", choices=[("raise ValueError(value)", 3, "delay(0.01)")]).stdout == normal


def test_a_place_that_is_not_there_is_reported(tmp_path):
    program = Program(tmp_path, main="def f():\n    return abs(-1)\n\nprint(f())\n")
    path = str(tmp_path / "main.py")
    files = {path: [*program.files[path], [7, "call", 2, 0, 2, 9], [8, "raise", 1, 0, 1, 3]]}
    assert program.run_hooked("main.py", files=files).stdout == "1\n"
    assert len(program.visits()) == 1
    lines = sorted(program.problems().splitlines())
    assert lines == [
        f"site 7: there is no call to rewrite at {path}:2:0",
        f"site 8: there is no raise to rewrite at {path}:1:0",
    ]


def test_a_file_that_changed_into_nonsense_runs_as_it_is(tmp_path):
    program = Program(tmp_path, main="import work\n", work="def f():\n    abs(-1)\n")
    (tmp_path / "work.py").write_text("print('read'\n")
    assert "SyntaxError" in program.run_hooked("main.py").stderr
    assert "work.py is not rewritten" in program.problems()


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


def test_rewritten_code_is_kept_apart_from_the_code_of_python_and_used_again(tmp_path):
    program = Program(tmp_path, main="import work, plain\nwork.f()\n", work="def f():\n    abs(-1)\n", plain="")
    program.run_hooked("main.py", env={"PYTHONDONTWRITEBYTECODE": ""})
    compiled = [path.name.split(".")[0] for path in tmp_path.glob("__pycache__/*")]
    assert compiled == ["plain"]
    [kept] = (tmp_path / "rounds" / "cache").iterdir()
    times = kept.stat().st_mtime_ns
    program.run_hooked("main.py")
    assert kept.stat().st_mtime_ns == times
    kept.write_bytes(b"damaged")
    program.run_hooked("main.py")
    assert program.visits() == [("abs", 1, 0, 0, "MainThread")]
    (tmp_path / "work.py").write_text("def f():\n    abs(-1), print('new')\n")
    assert program.run_hooked("main.py").stdout == "new\n"


def test_files_are_known_by_their_real_paths(tmp_path):
    program = Program(tmp_path, work="def f():\n    abs(-1)\n")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "alias.py").symlink_to(tmp_path / "work.py")
    (tmp_path / "folder").symlink_to(tmp_path, target_is_directory=True)
    program.run_hooked("-c", "import sys; sys.path += ['links', 'folder']; import alias; alias.f()")
    program_visits = program.visits()
    program.run_hooked("-c", "import folder.work; folder.work.f()")
    assert program_visits == program.visits() == [("abs", 1, 0, 0, "MainThread")]


def rewritten(source):
    rows, _ = rows_and_texts(source)
    tree = ast.parse(source)
    assert rewrite(tree, rows) == []
    return ast.unparse(tree)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("before\nraise E", "before\nSITE\nraise E"),
        ("before\nif a:\n    b\n    raise E", "before\nSITE\nif a:\n    b\n    raise E"),
        ("if a:\n    pass\nelif b:\n    raise E", "SITE\nif a:\n    pass\nelif b:\n    raise E"),
        ("if a:\n    if b:\n        raise E", "SITE\nif a:\n    if b:\n        raise E"),
        ("if a:\n    c\n    if b:\n        raise E", "if a:\n    c\n    SITE\n    if b:\n        raise E"),
        ("before\nif a:\n    return b\nraise E", "before\nSITE\nif a:\n    return b\nraise E"),
        (
            "for a in b:\n    if a:\n        return a\nraise E",
            "SITE\nfor a in b:\n    if a:\n        return a\nraise E",
        ),
        ("for a in b:\n    if a:\n        break\nraise E", "for a in b:\n    if a:\n        break\nSITE\nraise E"),
        ("while a:\n    if b:\n        raise E", "while a:\n    SITE\n    if b:\n        raise E"),
        (
            "while a:\n    if b:\n        continue\n    raise E",
            "while a:\n    SITE\n    if b:\n        continue\n    raise E",
        ),
        (
            "try:\n    if b:\n        raise E\nfinally:\n    c",
            "try:\n    SITE\n    if b:\n        raise E\nfinally:\n    c",
        ),
        ("if a:\n    with b:\n        raise E", "if a:\n    with b:\n        SITE\n        raise E"),
        ("try:\n    a\nexcept A:\n    raise E", "try:\n    a\nexcept A:\n    SITE\n    raise E"),
        (
            "match a:\n    case 1:\n        b\n        raise E",
            "SITE\nmatch a:\n    case 1:\n        b\n        raise E",
        ),
        ("def g():\n    return a\nraise E", "def g():\n    return a\nSITE\nraise E"),
    ],
)
def test_the_site_of_a_raise_is_where_it_is_decided(block, expected):
    def in_function(text):
        return "def f():\n" + "".join(f"    {line}\n" for line in text.splitlines())

    wanted = in_function(expected).replace("SITE", "if __cutset__[0](False): pass")
    assert rewritten(in_function(block)) == ast.unparse(ast.parse(wanted))


def test_class_bodies_and_annotations_are_left_alone():
    source = "class A:\n    x = f()\n\n    @g()\n    def m(self, a: h()=i()) -> j():\n        k()"
    tree = ast.parse(source)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    rows = [[7, "call", call.lineno, call.col_offset, call.end_lineno, call.end_col_offset] for call in calls]
    assert len(rewrite(tree, rows)) == 5
    assert ast.unparse(tree) == source.replace("k()", "__cutset__[7](k)()")


def expressions():
    """Nested calls with all forms of arguments, of a function that notes the order in which it is called."""
    leaves = st.integers(0, 9).map(str)

    def extend(inner):
        argument = st.one_of(
            inner,
            inner.map(lambda text: f"*[{text}]"),
            inner.map(lambda text: f"k={text}"),
            inner.map(lambda text: f"**{{'q': {text}}}"),
        )
        return st.one_of(
            st.lists(argument, max_size=3).map(lambda arguments: f"note({', '.join(sorted(arguments, key=rank))})"),
            inner.map(lambda text: f"note.again({text})\\\n.again(1)"),
            st.tuples(inner, inner).map(
                lambda pair: f"({pair[0]} if note({pair[1]}) else [note(x) for x in range(2)])"
            ),
            inner.map(lambda text: f"(lambda x={text}: note(x))()"),
            st.tuples(inner, inner).map(lambda pair: f"(note({pair[0]}) and (y := {pair[1]}))"),
        )

    return st.recursive(leaves, extend, max_leaves=12)


def rank(argument):
    return (argument.startswith("**"), argument.startswith("k="))


class Note:
    def __init__(self):
        self.calls = []

    def __call__(self, *args, **kwargs):
        self.calls.append(repr((args, sorted(kwargs.items()))))
        return len(self.calls) % 3

    def again(self, *args):
        self(*args)
        return self

    def __repr__(self):
        return "note"


@given(expressions())
def test_the_order_of_evaluation_does_not_change(expression):
    source = f"def f(note):\n    return {expression}, sorted(locals())\n"
    if source.count("k=") > 1 or source.count("'q'") > 1:
        source = source.replace("k=", "k0=", 1)
    try:
        plain_code = compile(source, "<plain>", "exec")
    except SyntaxError:
        return  # a repeated keyword
    rows, _ = rows_and_texts(source)
    tree = ast.parse(source)
    assert rewrite(tree, rows) == []
    results = []
    for code in plain_code, compile(tree, "<rewritten>", "exec"):
        scope = {"__cutset__": {row[0]: lambda target, *_: target for row in rows}}
        exec(code, scope)
        note = Note()
        try:
            results.append((repr(scope["f"](note)), note.calls))
        except TypeError as error:
            results.append((str(error), note.calls))
    assert results[0] == results[1]
