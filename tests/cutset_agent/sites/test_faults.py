"""The one visit that is to fail fails as if by itself."""

import pytest
from tests.samples.hooked_program import Program
from tests.samples.interpreters import interpreter

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
    [("take", "stock.remove", "3.8"), ("take", "stock.remove", "3.14")]
    + [
        ("take_by_method", "store.remove", version)
        for version in ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
    ],
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
    assert (fired["thread"], fired["process"], fired["logged"]) == ("MainThread", 0, 0)


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
