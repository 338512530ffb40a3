"""Programs run with the fault sites of a reproduction and without."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import cutset_agent
from cutset_agent.sites.visits import read_functions, read_visits

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
        **more,
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
            **more,
        }
        plan_path = self.out / "plan.json"
        plan_path.write_text(json.dumps(plan))
        ours = {"CUTSET_SITES": str(plan_path), "PYTHONPATH": str(hook)}
        return self.run(*command, python=python, env={**ours, **(env or {})})

    def visits(self):
        return [(self.texts[row.site], *row[1:5]) for row in read_visits(str(self.out))]

    def contexts(self, text):
        """Of the visits to a site, and its number in each."""
        return [(row.within, row.nth) for row in read_visits(str(self.out)) if self.texts[row.site] == text]

    def functions(self):
        """First lines, by name of the file."""
        names = [Path(path).name for path in self.files]
        return {names[number - 1]: lines for number, lines in read_functions(str(self.out)).items()}

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


# What a rewriting might get wrong.
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
