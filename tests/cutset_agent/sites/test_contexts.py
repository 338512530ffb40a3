"""The functions that led to a visit."""

import pytest
from tests.samples.hooked_program import Program
from tests.samples.interpreters import interpreter

from cutset_agent.sites.visits import read_visits

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
