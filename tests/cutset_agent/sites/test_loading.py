"""However a program is started and its modules are found, their sites are rewritten before they run."""

from textwrap import dedent

import pytest
from tests.samples.hooked_program import PECULIAR, Program, same

from cutset_agent.sites.visits import read_visits


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


def without_times(text):
    return [line for line in text.splitlines() if " passed in " not in line and " at 0x" not in line]


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
    assert without_times(hooked.stdout) == without_times(without.stdout)
    assert "1 failed, 2 passed" in hooked.stdout
    check = "raise ValueError(n)"
    assert [text for text, *_ in program.visits()] == [check, "divmod", check, "ValueError", check, "divmod"]


TESTED = """
    import pytest

    class TestWork:
        def test_fails(self):
            values = [3]
            try:
                values.remove(3)
            except OSError:
                values.append("fault")
            assert values == sorted([1])

    @pytest.fixture
    def made():
        return abs(-1)

    @pytest.mark.parametrize("n", [1, 2])
    def test_passes(made, n):
        assert made == abs(-1)
"""


@pytest.mark.parametrize("functions", [False, True])
def test_test_files_of_pytest_have_sites_and_leave_no_rewritten_code(functions, tmp_path):
    program = Program(tmp_path, test_work=TESTED)
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "test_work.py"]
    written = {"PYTHONDONTWRITEBYTECODE": ""}
    plain = program.run(*command, env=written)
    [compiled] = tmp_path.glob("__pycache__/test_work.*")
    before = compiled.read_bytes()

    hooked = program.run_hooked(*command, env=written, functions=functions)
    assert without_times(hooked.stdout) == without_times(plain.stdout)
    assert "1 failed, 2 passed" in hooked.stdout
    assert [text for text, *_ in program.visits()] == ["values.remove", "sorted", "abs", "abs", "abs", "abs"]
    assert program.functions() == ({"test_work.py": {0, 5, 13, 17}} if functions else {})

    hooked = program.run_hooked(*command, env=written, choices=[("values.remove", 1, "OSError()")])
    assert "[3, 'fault'] == [1]" in hooked.stdout
    assert compiled.read_bytes() == before
    assert program.problems() == ""


def test_a_file_that_changed_into_nonsense_runs_as_it_is(tmp_path):
    program = Program(tmp_path, main="import work\n", work="def f():\n    abs(-1)\n")
    (tmp_path / "work.py").write_text("print('read'\n")
    assert "SyntaxError" in program.run_hooked("main.py").stderr
    assert "work.py is not rewritten" in program.problems()


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
