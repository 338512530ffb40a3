"""Functions that ran."""

import pytest
from tests.samples.hooked_program import PECULIAR, Program
from tests.samples.interpreters import interpreter

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
